"""Our miniature of Macaron, read once: its templates and contexts, its scenarios and their instances."""

from pathlib import Path

from excam.macaron import contexts, derive, source, templates

MINI = Path(__file__).parents[2] / "mini/macaron"
TEMPLATES = templates.read(MINI / "templates.yaml")
CONTEXTS = contexts.read_contexts(MINI / "contexts.csv")
BUILT = source.read(source.files(MINI), {})
INSTANCES = derive.instances(BUILT.scenarios, seed=1)
