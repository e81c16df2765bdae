"""The tokenizer defined by `tokenizer.json` alone, as a reference for that which transformers makes of a folder.

Some of Mistral's tokenizer files split numbers into groups of three digits, but the models were trained on single
digits. transformers corrects this only with `fix_mistral_regex`, and otherwise warns.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MISTRAL_TYPES = (
    "mistral",
    "mistral3",
    "voxtral",
    "ministral",
    "pixtral",
)  # values of model_type that transformers puts right
MISTRAL_MARKER = (
    "[INST]"  # a token of Mistral's own tokenizers; other people's, in a model of this type, have rules of their own
)
IN_THREES = r"\p{N}{1,3}"
RULE = (  # the rule of tekken.json (Mistral's own format) and of transformers' correction
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def has_wrong_rule(weights: Path) -> bool | None:
    """Return whether the tokenizer in a folder is Mistral's with the wrong rule; None if the model is not Mistral's."""
    model = _read(weights / "config.json")
    if model.get("model_type") not in MISTRAL_TYPES:
        return None
    file = _read(weights / "tokenizer.json")
    steps = (file.get("pre_tokenizer") or {}).get("pretokenizers") or [{}]
    is_own = any(token["content"] == MISTRAL_MARKER for token in file.get("added_tokens", ()))
    is_old = int(str(model.get("transformers_version", "0")).split(".")[0]) < 5  # later versions wrote the correct rule
    return is_own and is_old and IN_THREES in steps[0].get("pattern", {}).get("Regex", "")


def reference_tokenizer(weights: Path, *, corrected: bool) -> Tokenizer | None:
    """Return the tokenizer of `tokenizer.json`, with Mistral's rule if `corrected`; None if there is no such file."""
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
