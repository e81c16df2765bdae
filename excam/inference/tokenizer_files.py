"""What `tokenizer.json` says by itself, to compare a loaded tokenizer with; and a wrong rule in some of Mistral's.

Some files of Mistral's tokenizer split texts by another model's rule: numbers in threes, where the model was trained on
single digits. transformers puts that right where it is told to (`fix_mistral_regex`), and else only warns.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokenizers import Tokenizer

FAMILY = ("mistral", "mistral3", "voxtral", "ministral", "pixtral")  # values of model_type that transformers puts right
OWN = "[INST]"  # a token of Mistral's own tokenizers; other people's, in a model of this type, have rules of their own
IN_THREES = r"\p{N}{1,3}"
RULE = (  # that of tekken.json, Mistral's own format, and of transformers' correction
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def has_wrong_rule(weights: Path) -> bool | None:
    """Whether the tokenizer in a folder is one of Mistral's with another model's rule; None where it is no Mistral."""
    model = _read(weights / "config.json")
    if model.get("model_type") not in FAMILY:
        return None
    file = _read(weights / "tokenizer.json")
    steps = (file.get("pre_tokenizer") or {}).get("pretokenizers") or [{}]
    is_own = any(token["content"] == OWN for token in file.get("added_tokens", ()))
    is_old = int(str(model.get("transformers_version", "0")).split(".")[0]) < 5  # later ones wrote the right rule
    return is_own and is_old and IN_THREES in steps[0].get("pattern", {}).get("Regex", "")


def alone(weights: Path, *, corrected: bool) -> Tokenizer | None:
    """The tokenizer of `tokenizer.json` as it stands, or with Mistral's rule; None where there is no such file."""
    from tokenizers import Regex, Tokenizer
    from tokenizers.pre_tokenizers import Split

    file = weights / "tokenizer.json"
    if not file.is_file():
        return None
    tokenizer: Any = Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    if corrected:
        tokenizer.pre_tokenizer[0] = Split(Regex(RULE), "isolated")
    return tokenizer


def _read(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
