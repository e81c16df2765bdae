"""From messages to token ids, the same for training and for every local backend.

The model's own chat template is applied, but texts are data: no control token comes out of what a message or an answer
says (P9). A control token is an added token that is marked special, or that the chat template itself writes or looks for
(`<think>` in Qwen's, which is not marked); such a string inside a text is tokenised as the characters it is made of.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from excam.exceptions import InputInvalid, ModelInvalid
from excam.inference import Message

if TYPE_CHECKING:
    from transformers import AddedToken, PreTrainedTokenizerBase

PAD = "\u2003"  # white space around each sentinel: where it is gone, the template trims its contents
SENTINEL = re.compile(f"({PAD}?)\ue000([0-9]+)\ue001({PAD}?)")  # private-use characters: no template writes them
UNPAIRED = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Encoded:
    """Token ids of a conversation; those from `completion_start` on are the answer and the token that ends its turn."""

    input_ids: tuple[int, ...]
    completion_start: int


def encode(tokenizer: PreTrainedTokenizerBase, messages: Sequence[Message], answer: str | None = None) -> Encoded:
    """Token ids of `messages` up to where the model is to answer and, if given, of `answer` and its end of turn.

    A template that refuses a system role or leaves it out (Gemma 2, Phi-3-medium) gets the system text in front of the
    first user message, an empty line between. Lone surrogates become U+FFFD, since no tokenizer can take them.
    Raises ModelInvalid when the tokenizer has no usable template, InputInvalid when a text cannot be told from control
    tokens.
    """
    contents = [UNPAIRED.sub("\ufffd", message.content) for message in messages]
    roles = [message.role for message in messages]
    skeleton = _render(tokenizer, roles)
    if roles[0] == "system" and _lacks(skeleton, len(roles)):
        contents = ["\n\n".join(contents[:2]), *contents[2:]]
        roles = roles[1:]
        skeleton = _render(tokenizer, roles)
    if skeleton is None or _lacks(skeleton, len(roles)):
        raise ModelInvalid(
            f"{tokenizer.name_or_path}: its chat template cannot hold a conversation of {', '.join(roles)}; "
            "use a model whose template can"
        )
    prompt = _ids(tokenizer, _pieces(skeleton, contents))
    completion = [] if answer is None else _ids(tokenizer, [(UNPAIRED.sub("\ufffd", answer), True)])
    if answer is not None:
        completion.append(end_of_turn(tokenizer))
    return Encoded((*prompt, *completion), len(prompt))


def end_of_turn(tokenizer: PreTrainedTokenizerBase) -> int:
    """Id of the token that the template writes after an assistant's message; the end of text where it writes none."""
    skeleton = _render(tokenizer, ["user", "assistant"], ask=False) or ""
    said = [match for match in SENTINEL.finditer(skeleton) if match[2] == "1"]
    after = skeleton[said[-1].end() :] if said else ""
    control = _control(tokenizer)
    if found := re.match(rf"\s*({_any_of(control)})", after):
        return control[found[1]]
    if isinstance(tokenizer.eos_token_id, int):
        return tokenizer.eos_token_id
    raise ModelInvalid(f"{tokenizer.name_or_path}: no token ends a turn; expected one in its chat template, or an eos token")


def _render(tokenizer: PreTrainedTokenizerBase, roles: Sequence[str], *, ask: bool = True) -> str | None:
    """The template around sentinels, up to the answer if `ask`; None where the template refuses these roles."""
    from jinja2 import TemplateError

    if not tokenizer.chat_template:
        raise ModelInvalid(f"{tokenizer.name_or_path}: no chat template; expected an instruction-tuned model")
    conversation = [{"role": role, "content": f"{PAD}\ue000{at}\ue001{PAD}"} for at, role in enumerate(roles)]
    try:
        return str(tokenizer.apply_chat_template(conversation, tokenize=False, add_generation_prompt=ask))
    except TemplateError:
        return None


def _lacks(skeleton: str | None, messages: int) -> bool:
    """Whether a message's content appears nowhere in what the template made."""
    return {int(found[2]) for found in SENTINEL.finditer(skeleton or "")} != set(range(messages))


def _pieces(skeleton: str, contents: Sequence[str]) -> list[tuple[str, bool]]:
    """(text, whether it is data) in order; contents are trimmed on the sides where the template trims."""
    pieces: list[tuple[str, bool]] = []
    last = 0
    for found in SENTINEL.finditer(skeleton):
        content = contents[int(found[2])]
        content = content if found[1] else content.lstrip()
        pieces += [(skeleton[last : found.start()], False), (content if found[3] else content.rstrip(), True)]
        last = found.end()
    return [*pieces, (skeleton[last:], False)]


def _ids(tokenizer: PreTrainedTokenizerBase, pieces: Sequence[tuple[str, bool]]) -> list[int]:
    """Tokenise as one text; where data would make a control token, once more with the data's control strings cut."""
    control = _control(tokenizer)
    pattern = re.compile(_any_of(control))
    wanted = [control[found] for text, is_data in pieces if not is_data for found in pattern.findall(text)]
    numbers = set(control.values())
    ids = _plain(tokenizer, "".join(text for text, _ in pieces))
    if [token for token in ids if token in numbers] == wanted:
        return ids
    ids = _cut_ids(tokenizer, pieces, pattern, control)
    if [token for token in ids if token in numbers] != wanted:
        raise InputInvalid(f"{tokenizer.name_or_path}: a text yields control tokens however it is cut; leave that row out")
    return ids


def _cut_ids(
    tokenizer: PreTrainedTokenizerBase,
    pieces: Sequence[tuple[str, bool]],
    pattern: re.Pattern[str],
    control: dict[str, int],
) -> list[int]:
    """Control tokens of the template as such; the runs of text between them cut after the first character of each
    control string, so that none is left."""
    parts: list[str | int] = [""]
    for text, is_data in pieces:
        found = [] if is_data else list(pattern.finditer(text))
        ends = [0, *(match.end() for match in found)]
        starts = [*(match.start() for match in found), len(text)]
        for at, (start, end) in enumerate(zip(ends, starts, strict=True)):
            if at:
                parts += [control[found[at - 1][0]], ""]
            parts[-1] = f"{parts[-1]}{text[start:end]}"
    flags = {token: added for token, added in tokenizer.added_tokens_decoder.items() if token in set(control.values())}
    ids: list[int] = []
    for at, part in enumerate(parts):
        if isinstance(part, int):
            ids.append(part)
            continue
        if at and flags[int(parts[at - 1])].rstrip:  # such tokens swallow the white space beside them
            part = part.lstrip()
        if at + 1 < len(parts) and flags[int(parts[at + 1])].lstrip:
            part = part.rstrip()
        cuts = [0, *(match.start() + 1 for match in re.finditer(f"(?={pattern.pattern})", part)), len(part)]
        for start, end in zip(cuts, cuts[1:], strict=False):
            ids += _plain(tokenizer, part[start:end])
    return ids


def _plain(tokenizer: PreTrainedTokenizerBase, text: str) -> list[int]:
    return tokenizer.encode(text, add_special_tokens=False) if text else []


def _control(tokenizer: PreTrainedTokenizerBase) -> dict[str, int]:
    """Ids of control tokens by their text."""
    template = tokenizer.chat_template if isinstance(tokenizer.chat_template, str) else str(tokenizer.chat_template)

    def is_control(token: AddedToken) -> bool:
        return token.special or (bool(token.content.strip()) and token.content in template)

    return {added.content: token for token, added in tokenizer.added_tokens_decoder.items() if is_control(added)}


def _any_of(control: dict[str, int]) -> str:
    """A pattern for any control string, the longest first; it matches nothing where there is none."""
    return "|".join(re.escape(text) for text in sorted(control, key=len, reverse=True)) or "(?!)"
