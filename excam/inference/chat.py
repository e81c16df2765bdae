"""From messages to token ids, the same for training and for every local backend.

The model's own chat template is applied, but texts are data: no control token comes out of what a message or an answer
says. A control token is an added token that is marked special, or that the chat template itself writes or looks
for (`<think>` in Qwen's, which is not marked); such a string inside a text is tokenised as plain characters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from excam.exceptions import InputInvalid, ModelInvalid
from excam.inference import Completion, Message, tokenizer_files
from excam.inference.loading import loading
from excam.inference.rendering import rendered
from excam.provenance import say

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerBase

PAD = "\u2003"  # white space around each sentinel: where it is gone, the template trims its contents
SENTINEL = re.compile(f"({PAD}?)\ue000([0-9]+)\ue001({PAD}?)")  # private-use characters: no template writes them
USUAL = ((("system", "user"), True), (("user",), True), (("user", "assistant"), False))  # rendered at one go
# What every tokenizer is asked to read: scripts, digits, white space inside (at the ends, libraries differ by design).
SCRIPTS = (
    "In 1984 we paid 12,500.75 for it; could you?\n\tA   gap.", "Où est l'été? Straße, naïve, İstanbul",
    "Сколько стоит хлеб?", "أين الطعام؟", "वाराणसी किस नदी के किनारे है?", "東京の料理は何ですか。", "한국 음식", "🍲👩‍🍳",
)  # fmt: skip
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
    contents = [well_formed(message.content) for message in messages]
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
    completion = [] if answer is None else _ids(tokenizer, [(well_formed(answer), True)])
    if answer is not None:
        completion.append(end_of_turn(tokenizer))
    return Encoded((*prompt, *completion), len(prompt))


def well_formed(text: str) -> str:
    """The text with lone surrogates, which no encoding to bytes can take, replaced by U+FFFD."""
    return UNPAIRED.sub("\ufffd", text)


def end_of_turn(tokenizer: PreTrainedTokenizerBase) -> int:
    """Id of the token that the template writes after an assistant's message; the end of text where it writes none."""
    skeleton = _render(tokenizer, ["user", "assistant"], ask=False) or ""
    said = [match for match in SENTINEL.finditer(skeleton) if match[2] == "1"]
    after = skeleton[said[-1].end() :] if said else ""
    control = _control(tokenizer, str(tokenizer.chat_template))
    if found := control.pattern.match(after.lstrip()):
        return control.ids[found[0]]
    if isinstance(tokenizer.eos_token_id, int):
        return tokenizer.eos_token_id
    raise ModelInvalid(
        f"{tokenizer.name_or_path}: no token ends a turn; expected one in its chat template, or an eos token"
    )


def stop_ids(tokenizer: PreTrainedTokenizerBase, generation_config: Any) -> frozenset[int]:
    """Ids of all tokens that end an answer: the template's, the tokenizer's, those of the generation settings."""
    listed = getattr(generation_config, "eos_token_id", None)
    listed = listed if isinstance(listed, list) else [listed]
    found = [end_of_turn(tokenizer), tokenizer.eos_token_id, *listed]
    return frozenset(one for one in found if isinstance(one, int))


def rooms(prompts: Iterable[int], max_tokens: int, context: int, overflow: Literal["refuse", "shorten"]) -> list[int]:
    """Tokens each answer may have after a prompt of so many; 0: the prompt is refused (spec 44).

    A prompt that leaves less than `max_tokens` of the context is refused, or with "shorten" answered in what is left.
    Either way it is said, with the count, before anything is asked.
    """
    left = [context - prompt for prompt in prompts]
    short = [room for room in left if room < max_tokens]
    if short:
        what = "are refused" if overflow == "refuse" else f"get what is left; {sum(room < 1 for room in short)} refused"
        say(f"{len(short)} of {len(left)} prompts leave less than {max_tokens} of {context} tokens: they {what}")
    if overflow == "refuse":
        return [max_tokens if room >= max_tokens else 0 for room in left]
    return [max(0, min(room, max_tokens)) for room in left]


def positions(weights: Path) -> int | None:
    """Return how many tokens the model of a local folder takes, None where that has no limit. Raises ModelInvalid."""
    from transformers import AutoConfig

    with loading(weights):
        config = AutoConfig.from_pretrained(weights, local_files_only=True, trust_remote_code=False)
    return getattr(config.get_text_config(), "max_position_embeddings", None)


def load_tokenizer(weights: Path) -> PreTrainedTokenizerBase:
    """The tokenizer of a local folder. Raises ModelInvalid, also where it reads texts otherwise than its own file."""
    from transformers import AutoTokenizer

    with loading(weights):
        is_wrong = tokenizer_files.has_wrong_rule(weights)
        told = {} if is_wrong is None else {"fix_mistral_regex": is_wrong}
        tokenizer = AutoTokenizer.from_pretrained(weights, local_files_only=True, trust_remote_code=False, **told)
        expected = tokenizer_files.alone(weights, corrected=bool(is_wrong))
    if expected is not None:
        _refuse_other_ids(tokenizer, expected)
    return tokenizer


def _refuse_other_ids(tokenizer: PreTrainedTokenizerBase, expected: Tokenizer) -> None:
    """Raise ModelInvalid where the ids of some plain text are not those of `tokenizer.json`.

    A model reads ids, whatever they stand for: with others it answers worse, and nobody would see why. transformers
    chooses the class of a tokenizer by names in two other files.
    """
    for text in SCRIPTS:
        found, wanted = _plain(tokenizer, text), expected.encode(text, add_special_tokens=False).ids
        if found != wanted:
            raise ModelInvalid(
                f"{tokenizer.name_or_path}: {type(tokenizer).__name__} reads {text!r} as {len(found)} ids "
                f"{_shown(found, wanted)}; expected {len(wanted)} {_shown(wanted, found)} as in tokenizer.json; "
                "correct tokenizer_class in tokenizer_config.json, or take away other tokenizers beside it"
            )


def _shown(ids: Sequence[int], other: Sequence[int]) -> str:
    """The ids from the first that differs, three at most."""
    at = next((at for at, pair in enumerate(zip(ids, other, strict=False)) if pair[0] != pair[1]), len(other))
    return f"[...{', '.join(map(str, ids[at : at + 3]))}...]"


def adapter_weights(adapter: Path) -> Path:
    """The file with the weights of a LoRA adapter. Raises ModelInvalid where the folder has none."""
    file = adapter / "adapter_model.safetensors"
    if not file.is_file():
        raise ModelInvalid(f"{adapter}: no {file.name}; expected the folder of a LoRA adapter in safetensors")
    return file


def completion(
    tokenizer: PreTrainedTokenizerBase,
    stops: Collection[int],
    prompt_tokens: int,
    ids: Sequence[int],
    logprobs: Sequence[float] | None,
) -> Completion:
    """What a model generated, read the same for every local backend.

    `ids` are all generated tokens, one of `stops` last where the answer is finished; `logprobs` theirs, None where they
    are not kept.
    """
    stopped = ids[-1] in stops
    said = len(ids) - stopped
    text = tokenizer.decode(list(ids[:said]), skip_special_tokens=True, clean_up_tokenization_spaces=False)
    return Completion(
        text=str(text),
        logprobs=None if logprobs is None else tuple(logprobs[:said]),
        end_logprob=logprobs[-1] if stopped and logprobs is not None else None,
        finish="stop" if stopped else "length",
        prompt_tokens=prompt_tokens,
        completion_tokens=len(ids),
    )


def _render(tokenizer: PreTrainedTokenizerBase, roles: Sequence[str], *, ask: bool = True) -> str | None:
    """The template around sentinels, up to the answer if `ask`; None where it refuses these roles or fails."""
    name = tokenizer.name_or_path
    if not tokenizer.chat_template:
        raise ModelInvalid(f"{name}: no chat template; expected one, or models.<name>.chat_template")
    with loading(name, "one chat template"):
        template, tokens = tokenizer.get_chat_template(), json.dumps(tokenizer.special_tokens_map, default=str)
    wanted = (tuple(roles), ask)
    together = USUAL if wanted in USUAL else (wanted,)
    try:
        skeletons = rendered(template, tokens, tuple(_conversation(*one) for one in together))
    except ModelInvalid as problem:
        raise ModelInvalid(f"{name}: {problem}") from None
    return skeletons[together.index(wanted)]


def _conversation(roles: Sequence[str], ask: bool) -> str:
    """A conversation of sentinels as JSON, as `rendered` takes it."""
    messages = [{"role": role, "content": f"{PAD}\ue000{at}\ue001{PAD}"} for at, role in enumerate(roles)]
    return json.dumps({"messages": messages, "ask": ask})


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
    control = _control(tokenizer, str(tokenizer.chat_template))
    wanted = [token for text, is_data in pieces if not is_data for token in control.found_in(text)]
    ids = _plain(tokenizer, "".join(text for text, _ in pieces))
    if control.only(ids) == wanted:
        return ids
    ids = _cut_ids(tokenizer, pieces, control)
    if control.only(ids) == wanted:
        return ids
    raise InputInvalid(f"{tokenizer.name_or_path}: a text yields control tokens however it is cut; leave that row out")


def _cut_ids(tokenizer: PreTrainedTokenizerBase, pieces: Sequence[tuple[str, bool]], control: _Control) -> list[int]:
    """Control tokens of the template as such; the runs of text between them cut inside every control string."""
    runs, tokens = [""], [-1]  # tokens[i] stands before runs[i]; -1: nothing stands there
    for text, is_data in pieces:
        first, *rest = [text] if is_data else control.pattern.split(text)
        runs[-1] += first
        runs += rest
        tokens += [] if is_data else control.found_in(text)
    ids: list[int] = []
    for before, run, after in zip(tokens, runs, [*tokens[1:], -1], strict=True):
        run = run.lstrip() if before in control.swallow_after else run
        run = run.rstrip() if after in control.swallow_before else run
        cuts = [0, *(found.start() + 1 for found in control.anywhere.finditer(run)), len(run)]
        ids += [before] if before >= 0 else []
        ids += [token for start, end in pairwise(cuts) for token in _plain(tokenizer, run[start:end])]
    return ids


def _plain(tokenizer: PreTrainedTokenizerBase, text: str) -> list[int]:
    with loading(tokenizer.name_or_path, "a tokenizer that takes any text"):
        return tokenizer.encode(text, add_special_tokens=False) if text else []


@dataclass(frozen=True, slots=True)
class _Control:
    """Control tokens by their text; which of them swallow the white space beside them; patterns that find them."""

    ids: dict[str, int]
    swallow_before: frozenset[int]
    swallow_after: frozenset[int]
    pattern: re.Pattern[str]
    anywhere: re.Pattern[str]  # also where one begins inside another

    def found_in(self, text: str) -> list[int]:
        """Ids of the control strings in a text of the template."""
        return [self.ids[found] for found in self.pattern.findall(text)]

    def only(self, ids: Sequence[int]) -> list[int]:
        """The control tokens among `ids`."""
        numbers = set(self.ids.values())
        return [token for token in ids if token in numbers]


@lru_cache(maxsize=8)  # some tokenizers have thousands of added tokens
def _control(tokenizer: PreTrainedTokenizerBase, template: str) -> _Control:
    added = {
        token: one
        for token, one in tokenizer.added_tokens_decoder.items()
        if one.special or (one.content.strip() and one.content in template)
    }
    longest_first = sorted((one.content for one in added.values()), key=len, reverse=True)
    any_of = "|".join(map(re.escape, longest_first)) or "(?!)"
    return _Control(
        ids={one.content: token for token, one in added.items()},
        swallow_before=frozenset(token for token, one in added.items() if one.lstrip),
        swallow_after=frozenset(token for token, one in added.items() if one.rstrip),
        pattern=re.compile(any_of),
        anywhere=re.compile(f"(?={any_of})"),
    )
