"""Convert messages to token ids, in the same way for training and for every local backend.

The model's own chat template is applied, but texts are data: no text of a message or an answer produces a control
token. A control token is an added token that is marked special, or that the chat template writes or searches for
(`<think>` in Qwen's, which is not marked); such a string inside a text is tokenised as plain characters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from excam.core.exceptions import InputInvalid, ModelInvalid
from excam.core.provenance import say
from excam.core.text import SURROGATE
from excam.inference import Completion, Message, tokenizer_files
from excam.inference.loading import loading
from excam.inference.rendering import render_conversations
from excam.inference.tokenizer_files import ChatTokenizer

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerBase

PAD = "\u2003"  # white space around each sentinel; if it is missing, the template trims its contents
SENTINEL = re.compile(f"({PAD}?)\ue000([0-9]+)\ue001({PAD}?)")  # private-use characters that no template writes
# (roles, whether an answer is requested), rendered in one process
COMMON_CONVERSATIONS = ((("system", "user"), True), (("user",), True), (("user", "assistant"), False))
# Texts to check every tokenizer with: scripts, digits, inner white space (libraries differ on outer white space).
PROBE_TEXTS = (
    "In 1984 we paid 12,500.75 for it; could you?\n\tA   gap.", "Où est l'été? Straße, naïve, İstanbul",
    "Сколько стоит хлеб?", "أين الطعام؟", "वाराणसी किस नदी के किनारे है?", "東京の料理は何ですか。", "한국 음식", "🍲👩‍🍳",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Encoded:
    """Token ids of a conversation; from `completion_start` on they are the answer and its end-of-turn token.

    The first `shared` ids depend on the messages before the last one alone, not on the last one: they end with the last
    control token that the template writes before its text. They are few if the template has it in one turn with them.
    """

    input_ids: tuple[int, ...]
    completion_start: int
    shared: int = 0


def encode(
    tokenizer: ChatTokenizer,
    messages: Sequence[Message],
    answer: str | None = None,
    *,
    thinking: bool | None = None,
) -> Encoded:
    """Return token ids of `messages` with the generation prompt and, if given, of `answer` and its end of turn.

    `thinking` is the template's `enable_thinking`, which is not set if None.

    If a template refuses or drops a system role (Gemma 2, Phi-3-medium), the system text is put before the first user
    message, separated by an empty line. Lone surrogates become U+FFFD, since no tokenizer accepts them. Raise
    ModelInvalid if the tokenizer has no usable template, InputInvalid if a text cannot be kept free of control tokens.
    """
    contents = [replace_lone_surrogates(message.content) for message in messages]
    roles = [message.role for message in messages]
    skeleton = _render(tokenizer, roles, thinking=thinking)
    if roles[0] == "system" and _drops_a_message(skeleton, len(roles)):
        contents = ["\n\n".join(contents[:2]), *contents[2:]]
        roles = roles[1:]
        skeleton = _render(tokenizer, roles, thinking=thinking)
    if skeleton is None or _drops_a_message(skeleton, len(roles)):
        raise ModelInvalid(
            f"{tokenizer.name_or_path}: its chat template cannot hold a conversation of {', '.join(roles)}; "
            "use a model whose template can"
        )
    pieces = _pieces(skeleton, contents)
    prompt = _conversation_ids(tokenizer, pieces)
    completion = [] if answer is None else _conversation_ids(tokenizer, [(replace_lone_surrogates(answer), True)])
    if answer is not None:
        completion.append(end_of_turn(tokenizer))
    return Encoded((*prompt, *completion), len(prompt), _shared_length(tokenizer, prompt, pieces))


def replace_lone_surrogates(text: str) -> str:
    """Return the text with lone surrogates, which cannot be encoded to bytes, replaced by U+FFFD."""
    return SURROGATE.sub("\ufffd", text)


def end_of_turn(tokenizer: ChatTokenizer) -> int:
    """Return the id of the token that the template writes after an assistant message, or of the end of text.

    Raise ModelInvalid if there is neither.
    """
    skeleton = _render(tokenizer, ["user", "assistant"], ask=False) or ""
    answers = [match for match in SENTINEL.finditer(skeleton) if match[2] == "1"]
    after = skeleton[answers[-1].end() :] if answers else ""
    control = _control_tokens(tokenizer, str(tokenizer.chat_template))
    if ending := control.pattern.match(after.lstrip()):
        return control.ids[ending[0]]
    if isinstance(tokenizer.eos_token_id, int):
        return tokenizer.eos_token_id
    raise ModelInvalid(
        f"{tokenizer.name_or_path}: no token ends a turn; expected one in its chat template, or an eos token"
    )


def stop_ids(tokenizer: ChatTokenizer, generation_config: Any) -> frozenset[int]:
    """Return the ids of all tokens that end an answer, from template, tokenizer and generation settings."""
    listed = getattr(generation_config, "eos_token_id", None)
    listed = listed if isinstance(listed, list) else [listed]
    token_ids = [end_of_turn(tokenizer), tokenizer.eos_token_id, *listed]
    return frozenset(token_id for token_id in token_ids if isinstance(token_id, int))


def have_room(prompts: Sequence[Sequence[int]], max_tokens: int, context: int) -> list[bool]:
    """Return for each prompt whether it leaves `max_tokens` of the context; say first how many do not."""
    fits = [len(prompt) + max_tokens <= context for prompt in prompts]
    if refused := fits.count(False):
        say(f"{refused} of {len(fits)} prompts leave less than {max_tokens} of {context} tokens: they are refused")
    return fits


def max_positions(weights: Path) -> int | None:
    """Return the maximum number of tokens of the model in a folder, None if unlimited. Raise ModelInvalid."""
    with loading(weights):
        settings = json.loads((weights / "config.json").read_text(encoding="utf-8"))
        stated = settings.get("text_config", settings).get("max_position_embeddings")
    if isinstance(stated, int):
        return stated
    from transformers import AutoConfig  # has the value that a model type has where the file is silent

    with loading(weights):
        config = AutoConfig.from_pretrained(weights, local_files_only=True, trust_remote_code=False)
    return getattr(config.get_text_config(), "max_position_embeddings", None)


def ids_tokenizer(weights: Path) -> ChatTokenizer:
    """Return the tokenizer of a folder for a program that needs ids alone, without transformers if it can.

    Its ids are those of `load_tokenizer`. Raise ModelInvalid.
    """
    with loading(weights):
        tokenizer = tokenizer_files.file_tokenizer(weights)
    return tokenizer or load_tokenizer(weights)


def load_tokenizer(weights: Path) -> PreTrainedTokenizerBase:
    """Return the tokenizer of a folder. Raise ModelInvalid, also if its ids differ from those of `tokenizer.json`."""
    from transformers import AutoTokenizer

    with loading(weights):
        is_wrong = tokenizer_files.has_wrong_rule(weights)
        options = {} if is_wrong is None else {"fix_mistral_regex": is_wrong}
        tokenizer = AutoTokenizer.from_pretrained(weights, local_files_only=True, trust_remote_code=False, **options)
        expected = tokenizer_files.reference_tokenizer(weights, corrected=bool(is_wrong))
    if expected is not None:
        _refuse_other_ids(tokenizer, expected)
    return tokenizer


def _refuse_other_ids(tokenizer: PreTrainedTokenizerBase, expected: Tokenizer) -> None:
    """Raise ModelInvalid if the ids of a probe text differ from those of `tokenizer.json`.

    With wrong ids a model silently answers worse. They occur because transformers chooses the class of a tokenizer by
    names in two other files.
    """
    for text in PROBE_TEXTS:
        ids, wanted = _text_ids(tokenizer, text), expected.encode(text, add_special_tokens=False).ids
        if ids != wanted:
            raise ModelInvalid(
                f"{tokenizer.name_or_path}: {type(tokenizer).__name__} reads {text!r} as {len(ids)} ids "
                f"{_ids_from_difference(ids, wanted)}; "
                f"expected {len(wanted)} {_ids_from_difference(wanted, ids)} as in tokenizer.json; "
                "correct tokenizer_class in tokenizer_config.json, or take away other tokenizers beside it"
            )


def _ids_from_difference(ids: Sequence[int], other: Sequence[int]) -> str:
    """Return at most three ids, from the first that differs, as text."""
    at = next((at for at, pair in enumerate(zip(ids, other, strict=False)) if pair[0] != pair[1]), len(other))
    return f"[...{', '.join(map(str, ids[at : at + 3]))}...]"


def adapter_weights(adapter: Path) -> Path:
    """Return the file with the weights of a LoRA adapter. Raise ModelInvalid if the folder has none."""
    file = adapter / "adapter_model.safetensors"
    if not file.is_file():
        raise ModelInvalid(f"{adapter}: no {file.name}; expected the folder of a LoRA adapter in safetensors")
    return file


def completion_from_ids(
    tokenizer: PreTrainedTokenizerBase,
    stops: Collection[int],
    prompt_tokens: int,
    ids: Sequence[int],
    logprobs: Sequence[float] | None,
    *,
    own_spaces: bool = False,
) -> Completion:
    """Return the completion for generated token ids, in the same way for every local backend.

    `ids` are all generated tokens; the last one is in `stops` if the answer is finished. `logprobs` are those of `ids`,
    None if they were not requested. `own_spaces`: the tokenizer decides about spaces before punctuation.
    """
    stopped = bool(ids) and ids[-1] in stops
    length = len(ids) - stopped
    spaces = None if own_spaces else False
    text = tokenizer.decode(list(ids[:length]), skip_special_tokens=True, clean_up_tokenization_spaces=spaces)
    return Completion(
        text=str(text),
        logprobs=None if logprobs is None else tuple(logprobs[:length]),
        end_logprob=logprobs[-1] if stopped and logprobs is not None else None,
        finish="stop" if stopped else "length",
        prompt_tokens=prompt_tokens,
        completion_tokens=len(ids),
    )


def _render(
    tokenizer: ChatTokenizer, roles: Sequence[str], *, ask: bool = True, thinking: bool | None = None
) -> str | None:
    """Return the template rendered with sentinels as contents; None if it refuses these roles or fails.

    `ask`: end with the generation prompt. Raise ModelInvalid if there is no template, or it exceeds its limits.
    """
    name = tokenizer.name_or_path
    if not tokenizer.chat_template:
        raise ModelInvalid(f"{name}: no chat template; expected one, or models.<name>.chat_template")
    with loading(name, "one chat template"):
        template, tokens = tokenizer.get_chat_template(), json.dumps(tokenizer.special_tokens_map, default=str)
    wanted = (tuple(roles), ask)
    together = COMMON_CONVERSATIONS if wanted in COMMON_CONVERSATIONS else (wanted,)
    try:
        skeletons = render_conversations(
            template, tokens, tuple(_conversation(*conversation, thinking) for conversation in together)
        )
    except ModelInvalid as problem:
        raise ModelInvalid(f"{name}: {problem}") from None
    return skeletons[together.index(wanted)]


def _conversation(roles: Sequence[str], ask: bool, thinking: bool | None) -> str:
    """Return a conversation of sentinels as JSON, the format of `render_conversations`."""
    messages = [{"role": role, "content": f"{PAD}\ue000{at}\ue001{PAD}"} for at, role in enumerate(roles)]
    return json.dumps({"messages": messages, "ask": ask, "variables": template_variables(thinking)})


def template_variables(thinking: bool | None) -> dict[str, bool]:
    """Return the variables of a chat template for a model's `thinking`, as Qwen's and vLLM's servers name them."""
    return {} if thinking is None else {"enable_thinking": thinking}


def _drops_a_message(skeleton: str | None, messages: int) -> bool:
    """Return whether the rendered template lacks the content of a message."""
    return {int(sentinel[2]) for sentinel in SENTINEL.finditer(skeleton or "")} != set(range(messages))


def _pieces(skeleton: str, contents: Sequence[str]) -> list[tuple[str, bool]]:
    """Return (text, whether it is data) in order, with contents trimmed on the sides where the template trims."""
    pieces: list[tuple[str, bool]] = []
    last = 0
    for sentinel in SENTINEL.finditer(skeleton):
        content = contents[int(sentinel[2])]
        content = content if sentinel[1] else content.lstrip()
        pieces += [(skeleton[last : sentinel.start()], False), (content if sentinel[3] else content.rstrip(), True)]
        last = sentinel.end()
    return [*pieces, (skeleton[last:], False)]


def _conversation_ids(tokenizer: ChatTokenizer, pieces: Sequence[tuple[str, bool]]) -> list[int]:
    """Return the ids of all pieces as one text, without control tokens from data.

    If data produces one, tokenise again with its control strings cut. Raise InputInvalid if that does not help.
    """
    control = _control_tokens(tokenizer, str(tokenizer.chat_template))
    wanted = [token for text, is_data in pieces if not is_data for token in control.found_in(text)]
    ids = _text_ids(tokenizer, "".join(text for text, _ in pieces))
    if control.only(ids) == wanted:
        return ids
    ids = _ids_with_cut_control_strings(tokenizer, pieces, control)
    if control.only(ids) == wanted:
        return ids
    raise InputInvalid(f"{tokenizer.name_or_path}: a text yields control tokens however it is cut; leave that row out")


def _shared_length(tokenizer: ChatTokenizer, prompt: Sequence[int], pieces: Sequence[tuple[str, bool]]) -> int:
    """Return the number of ids up to the last control token that the template writes before the last message."""
    control = _control_tokens(tokenizer, str(tokenizer.chat_template))
    last = max(at for at, (_, is_data) in enumerate(pieces) if is_data)
    count = sum(len(control.found_in(text)) for text, is_data in pieces[:last] if not is_data)
    places = [at for at, token in enumerate(prompt) if token in control.numbers]
    return min(places[count - 1] + 1, len(prompt) - 1) if count else 0


def _ids_with_cut_control_strings(
    tokenizer: ChatTokenizer, pieces: Sequence[tuple[str, bool]], control: _ControlTokens
) -> list[int]:
    """Return ids with the template's control tokens kept and control strings in the text between them cut in two."""
    runs, tokens = [""], [-1]  # tokens[i] comes before runs[i]; -1: none
    for text, is_data in pieces:
        first, *rest = [text] if is_data else control.pattern.split(text)
        runs[-1] += first
        runs += rest
        tokens += [] if is_data else control.found_in(text)
    ids: list[int] = []
    for before, run, after in zip(tokens, runs, [*tokens[1:], -1], strict=True):
        run = run.lstrip() if before in control.swallow_after else run
        run = run.rstrip() if after in control.swallow_before else run
        cuts = [0, *(match.start() + 1 for match in control.anywhere.finditer(run)), len(run)]
        ids += [before] if before >= 0 else []
        ids += [token for start, end in pairwise(cuts) for token in _text_ids(tokenizer, run[start:end])]
    return ids


def _text_ids(tokenizer: ChatTokenizer, text: str) -> list[int]:
    with loading(tokenizer.name_or_path, "a tokenizer that takes any text"):
        return tokenizer.encode(text, add_special_tokens=False) if text else []


@dataclass(frozen=True)
class _ControlTokens:
    """Control tokens by their text, which of them strip adjacent white space, and patterns that match them."""

    ids: dict[str, int]
    swallow_before: frozenset[int]
    swallow_after: frozenset[int]
    pattern: re.Pattern[str]
    anywhere: re.Pattern[str]  # matches overlapping ones too

    def found_in(self, text: str) -> list[int]:
        """Return the ids of the control strings in a text of the template."""
        return [self.ids[token] for token in self.pattern.findall(text)]

    @cached_property
    def numbers(self) -> frozenset[int]:
        """The ids of all control tokens."""
        return frozenset(self.ids.values())

    def only(self, ids: Sequence[int]) -> list[int]:
        """Return the control tokens among `ids`."""
        return [token for token in ids if token in self.numbers]


@lru_cache(maxsize=8)  # some tokenizers have thousands of added tokens
def _control_tokens(tokenizer: ChatTokenizer, template: str) -> _ControlTokens:
    added = {
        token: added_token
        for token, added_token in tokenizer.added_tokens_decoder.items()
        if added_token.special or (added_token.content.strip() and added_token.content in template)
    }
    longest_first = sorted((added_token.content for added_token in added.values()), key=len, reverse=True)
    any_of = "|".join(map(re.escape, longest_first)) or "(?!)"
    return _ControlTokens(
        ids={added_token.content: token for token, added_token in added.items()},
        swallow_before=frozenset(token for token, added_token in added.items() if added_token.lstrip),
        swallow_after=frozenset(token for token, added_token in added.items() if added_token.rstrip),
        pattern=re.compile(any_of),
        anywhere=re.compile(f"(?={any_of})"),
    )
