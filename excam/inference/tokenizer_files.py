"""The tokenizer defined by `tokenizer.json` alone: as a reference, and for programs that need only ids.

Importing transformers takes longer than tokenising a small set.

Some of Mistral's tokenizer files split numbers into groups of three digits, but the models were trained on single
digits. transformers corrects this only with `fix_mistral_regex`, and otherwise warns.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from tokenizers import AddedToken, Tokenizer
    from transformers import PreTrainedTokenizerBase

# Values of model_type that transformers puts right
MISTRAL_TYPES = ("mistral", "mistral3", "voxtral", "ministral", "pixtral")
MISTRAL_MARKER = (
    "[INST]"  # a token of Mistral's own tokenizers; other people's, in a model of this type, have rules of their own
)
IN_THREES = r"\p{N}{1,3}"
RULE = (  # the rule of tekken.json (Mistral's own format) and of transformers' correction
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

# transformers takes exactly tokenizer.json for this class, unless a model type has a class that it prefers (Qwen2's
# normalises Unicode, whatever the file says), or another setting or file of the folder changes it.
PLAIN_CLASS, PLAIN_TYPES = "TokenizersBackend", ("llama",)
SPECIAL_TOKENS = ("bos_token", "eos_token", "unk_token", "pad_token")
PLAIN_SETTINGS = {
    *SPECIAL_TOKENS, "backend", "chat_template", "clean_up_tokenization_spaces", "is_local", "local_files_only",
    "model_max_length", "tokenizer_class",
}  # fmt: skip
OTHER_FILES = (
    "added_tokens.json", "additional_chat_templates", "special_tokens_map.json", "tekken.json", "tokenizer.model",
)  # fmt: skip


@dataclass(frozen=True, eq=False, slots=True)
class FileTokenizer:
    """A tokenizer of `tokenizer.json`, with the fields and the ids of the one that transformers makes of it."""

    raw: Tokenizer
    name_or_path: str
    chat_template: str | None
    special_tokens_map: dict[str, str]
    added_tokens_decoder: dict[int, AddedToken]
    eos_token_id: int | None

    def get_chat_template(self) -> str:
        """Return the chat template of the folder."""
        return self.chat_template or ""

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        """Return the ids of a text."""
        return self.raw.encode(text, add_special_tokens=add_special_tokens).ids


ChatTokenizer: TypeAlias = "FileTokenizer | PreTrainedTokenizerBase"


def file_tokenizer(weights: Path) -> FileTokenizer | None:
    """Return the tokenizer of a folder without transformers, None if that might change what `tokenizer.json` says."""
    settings = _read(weights / "tokenizer_config.json")
    named = {name: settings[name] for name in SPECIAL_TOKENS if settings.get(name) is not None}
    is_plain = (
        settings.get("tokenizer_class") == PLAIN_CLASS
        and settings.keys() <= PLAIN_SETTINGS
        and _read(weights / "config.json").get("model_type") in PLAIN_TYPES
        and all(isinstance(value, str) for value in (*named.values(), settings.get("chat_template", "")))
        and not any((weights / name).exists() for name in OTHER_FILES)
    )
    raw = reference_tokenizer(weights, corrected=False) if is_plain else None
    if raw is None:
        return None
    added = raw.get_added_tokens_decoder()
    if not {*named.values()} <= {token.content for token in added.values() if token.special}:
        return None
    template = weights / "chat_template.jinja"
    return FileTokenizer(
        raw=raw,
        name_or_path=str(weights),
        chat_template=template.read_text(encoding="utf-8") if template.is_file() else settings.get("chat_template"),
        special_tokens_map=named,
        added_tokens_decoder=added,
        eos_token_id=raw.token_to_id(named["eos_token"]) if "eos_token" in named else None,
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
