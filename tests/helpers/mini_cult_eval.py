"""Our miniature of CulT-Eval, read once: its items, and the labelled translations of them."""

from pathlib import Path

from excam.acre import items, source, translations

MINI = Path(__file__).parents[2] / "mini/cult-eval"
ITEMS = items.read(MINI / "items.jsonl")
ROWS = translations.with_labels(source.written(source.files(MINI)[1:], ITEMS), MINI / "labels.jsonl")
