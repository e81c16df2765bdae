"""Generation with transformers (and PEFT) on one CPU or GPU.

A decoding loop of our own has three properties that `generate` lacks: finished rows leave the batch, log-probabilities
are exact under the unmodified distribution, and a row's random numbers do not depend on the other rows of its batch.

Instructions and examples stand in the messages before the last one, which many requests share. They are computed once
for all of them in a pass of their own; for likelihoods also for one request, so that none depends on what was asked
before. Texts to generate share all with which their prompts begin, and prompts of unlike length are computed apart, so
that few tokens are padding. In one pass: where that saves fewer than `SHORTEST_PREFIX` tokens, and models whose
attention has windows or states.
"""

from __future__ import annotations

import copy
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Literal

from excam.config import Model
from excam.core.exceptions import ModelInvalid
from excam.inference import Choice, Choose, Completion, Generate, Sampling, chat, lora
from excam.inference.backends import _batches
from excam.inference.cache_keys import request_seed
from excam.inference.loading import load_pretrained, loading
from excam.inference.one_pass import answer_logprobs

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

VERSION = 7
HEAD = 36  # of these, computed once where passages follow the instruction: that of the reader which ships
FEWEST_SHARING = 8  # requests to generate with one prefix; fewer are batched with others
PACKAGES = ("torch", "transformers", "peft")
SETTINGS = {"dtype", "context", "serve", "thinking"}  # of an entry of `models:`, arguments of `Backend`


def open_model(name: str, model: Model, files: Path | None, adapter: Path | None, identity: str) -> Backend:
    """Return the backend for an entry of `models:`; see `backends`."""
    assert files is not None, "weights are fetched first"
    return Backend(files, adapter, identity=identity, **model.model_dump(include=SETTINGS))


def open_shared(name: str, model: Model, files: Path, _rank: int | None) -> Backend:
    """Return the base model for several jobs, with one adapter at a time (`Backend.use`)."""
    return Backend(files, identity=name, **model.model_dump(include=SETTINGS))


class Likelihoods:
    """A loaded causal language model that computes the log-probabilities of given answers."""

    def __init__(
        self,
        model: Any,
        tokenizer: PreTrainedTokenizerBase,
        context: int | None = None,
        batch_tokens: int | None = None,
        thinking: bool | None = None,
    ) -> None:
        """`context`, `batch_tokens` and `thinking` as in `Backend`.

        Raise ModelInvalid for a configuration without positions.
        """
        self.model, self.tokenizer, self.device = model, tokenizer, model.device.type
        self._encode = partial(chat.encode, tokenizer, thinking=thinking)
        self.batch_tokens = batch_tokens or (8192 if self.device == "cpu" else 32768)
        longest = int(model.config.get_text_config().max_position_embeddings)
        self.context = min(context or longest, longest)
        self._forget()

    def _forget(self) -> None:
        """Forget what was computed by weights that may be others now."""
        # of `choose`: a prompt, log-probabilities after it, its keys and values
        self._last_prompt: tuple[Sequence[int], Any, Any] = (), None, None
        self._last_prefix: tuple[Sequence[int], Any] = (), None  # and its keys and values

    def choose(self, requests: Sequence[Choose]) -> Iterator[list[tuple[int, Choice]]]:
        """Yield one batch per request; those that share the messages before the last one, or all, follow each other.

        A prompt is computed once, then all options after it, in a few passes; a single option together with it.
        """
        self._forget()
        first = {
            part: at
            for at, request in reversed(list(enumerate(requests)))
            for part in (request.messages, request.messages[:-1])
        }
        parts = [(request.messages[:-1], request.messages) for request in requests]
        for at in sorted(range(len(requests)), key=lambda at: [first[part] for part in parts[at]]):
            both = [self._encode(*answered) for answered in requests[at].answered]
            prefix = self._prefix(both[0])
            prompt = both[0].completion_start
            if max(len(conversation.input_ids) for conversation in both) > self.context:
                yield [(at, Choice(None, None, prompt))]
                continue
            options = [each.input_ids[each.completion_start : -1] for each in both]  # without the end of turn
            if requests[at].also:
                sums = self._logprobs_of_both(both, prefix)
            else:
                sums = self._option_logprobs(both[0].input_ids[:prompt], options, prefix) if len(options) > 1 else None
            if sums is None:
                rows = max(1, self.batch_tokens // max(len(conversation.input_ids) for conversation in both))
                fitting = (both[start : start + rows] for start in range(0, len(both), rows))
                sums = [sum(logprobs[:-1]) for part in fitting for logprobs in self.logprobs(part, prefix)]
            yield [(at, Choice(tuple(sums), tuple(map(len, options)), prompt))]
        self._forget()

    @cached_property
    def _keeps_plain_prompt(self) -> bool:
        """Whether all layers keep the keys and values of the whole prompt, which can be copied for each option."""
        from transformers.cache_utils import DynamicCache, DynamicLayer

        return all(type(layer) is DynamicLayer for layer in DynamicCache(config=self.model.config).layers)

    def _prefix(self, conversation: chat.Encoded) -> tuple[int, ...]:
        """Return the ids of the messages before the last one; () if they are few, or a prompt cannot be split."""
        prefix = conversation.input_ids[: conversation.shared]
        return prefix if len(prefix) >= _batches.SHORTEST_PREFIX and self._computes_in_parts else ()

    @cached_property
    def _computes_in_parts(self) -> bool:
        """Whether a prompt in two passes gives what it gives in one: not where positions depend on a pass's length."""
        rotary = str(getattr(self.model.config.get_text_config(), "rope_parameters", None))
        return self._keeps_plain_prompt and "dynamic" not in rotary and "longrope" not in rotary

    def _after_prefix(self, prefix: Sequence[int], rows: int) -> Any:
        """Return keys and values of a prefix for so many rows; None without a prefix."""
        import torch

        if not prefix:
            return None
        last, cache = self._last_prefix
        if last != prefix:
            ids = torch.tensor([list(prefix)], device=self.device)
            cache = self.model(input_ids=ids, use_cache=True, logits_to_keep=1).past_key_values
            self._last_prefix = prefix, cache
        return _copies(cache, rows)

    def _logprobs_of_both(self, both: Sequence[chat.Encoded], prefix: Sequence[int]) -> list[float] | None:
        """Return the log-probability of each answer, from one pass; None without a prefix, or beyond `batch_tokens`."""
        import torch

        if not prefix or sum(len(each.input_ids) for each in both) > self.batch_tokens:
            return None
        with torch.inference_mode():
            cache = self._after_prefix(prefix[:HEAD], 1)
            return [float(logprobs[:-1].sum()) for logprobs in answer_logprobs(self.model, both, HEAD, cache)]

    def _option_logprobs(
        self, prompt: Sequence[int], options: Sequence[Sequence[int]], prefix: Sequence[int]
    ) -> list[float] | None:
        """Return the log-probability of each option after one pass over the prompt behind the prefix.

        None if the model keeps more than keys and values of the prompt (a recurrent state, a sliding window), or if all
        options together exceed `batch_tokens`.
        """
        import torch

        rows = 1 if all(len(option) == 1 for option in options) else len(options)
        too_long = rows * (len(prompt) + max(map(len, options))) > self.batch_tokens
        if not self._keeps_plain_prompt or not all(options) or too_long:
            return None
        with torch.inference_mode():
            if self._last_prompt[0] != prompt:  # else it was asked for other options
                out = self.model(
                    input_ids=torch.tensor([list(prompt[len(prefix) :])], device=self.device),
                    past_key_values=self._after_prefix(prefix, 1),
                    use_cache=True,
                    logits_to_keep=1,
                )
                self._last_prompt = prompt, out.logits[0, -1].float().log_softmax(-1), out.past_key_values
            _, first, cache = self._last_prompt
            rest = dict[Sequence[int], float]()
            for group in _batches.groups_of_like_length(
                sorted((option for option in options if len(option) > 1), key=len, reverse=True)
            ):
                rest.update(zip(group, self._rest_logprobs(len(prompt), cache, group), strict=True))
            return [float(first[option[0]]) + rest.get(option, 0.0) for option in options]

    def _rest_logprobs(self, prompt: int, cache: Any, options: Sequence[Sequence[int]]) -> list[float]:
        """Return the log-probability of all but the first token of each option, after a prompt of so many tokens."""
        import torch

        longest = max(map(len, options)) - 1  # the last token of an option predicts nothing here
        ids = _batches.padded([option[:-1] for option in options])
        mask = _batches.padded([[1] * (prompt + len(option) - 1) for option in options])
        scores = self.model(
            input_ids=ids.to(self.device),
            attention_mask=mask.to(self.device),
            position_ids=torch.arange(prompt, prompt + longest, device=self.device).expand(len(options), -1),
            past_key_values=_copies(cache, len(options)),
            use_cache=True,
        ).logits.float()
        logprobs = scores.log_softmax(-1)
        return [
            sum(float(logprobs[row, at, token]) for at, token in enumerate(option[1:]))
            for row, option in enumerate(options)
        ]

    def logprobs(self, conversations: Sequence[chat.Encoded], prefix: Sequence[int] = ()) -> list[list[float]]:
        """Return the log-probability of each token of each answer, including the end of turn, in one pass.

        `prefix`: ids of the messages with which all begin, which are computed once.
        """
        import torch

        longest = max(len(conversation.input_ids) - conversation.completion_start for conversation in conversations)
        with torch.inference_mode():
            ids, _, out = self._pass([each.input_ids for each in conversations], prefix, longest + 1)
            scores = out.logits[:, :-1].float().log_softmax(-1)
            logprobs = scores.gather(-1, ids[:, -longest:, None]).squeeze(-1).tolist()
        return [
            row[longest - (len(conversation.input_ids) - conversation.completion_start) :]
            for row, conversation in zip(logprobs, conversations, strict=True)
        ]

    def _pass(self, rows: Sequence[Sequence[int]], prefix: Sequence[int], last: int, *, keeps: bool = False) -> Any:
        """Return ids behind the prefix, attention mask [rows, tokens], and what the model says at the `last` positions.

        It has keys and values too if there is a prefix, or if it `keeps` them.
        """
        import torch

        ids = _batches.padded([row[len(prefix) :] for row in rows], left=True).to(self.device)
        mask = _batches.padded([[1] * (len(row) - len(prefix)) for row in rows], left=True).to(self.device)
        mask = torch.cat([mask.new_ones(len(ids), len(prefix)), mask], dim=-1)
        out = self.model(
            input_ids=ids,
            attention_mask=mask,
            position_ids=(mask.cumsum(-1) - 1).clamp(min=0)[:, len(prefix) :],
            past_key_values=self._after_prefix(prefix, len(ids)),
            use_cache=keeps or bool(prefix),
            logits_to_keep=self._last_positions(ids, last),
        )
        return ids, mask, out

    def _last_positions(self, ids: torch.Tensor, count: int) -> torch.Tensor:
        """Return the last positions of a batch, for `logits_to_keep`.

        As positions and not as a number: else PyTorch copies the output weights once for each row.
        """
        import torch

        return torch.arange(ids.shape[1] - count, ids.shape[1], device=self.device)


class Backend(Likelihoods):
    """A causal language model from a local folder, with a LoRA adapter if given."""

    def __init__(
        self,
        weights: Path,
        adapter: Path | None = None,
        *,
        dtype: str = "bfloat16",
        device: str | None = None,
        batch_tokens: int | None = None,
        context: int | None = None,
        serve: Literal["lora", "merged"] = "lora",
        thinking: bool | None = None,
        identity: str = "",
    ) -> None:
        """Load the model (safetensors only, local files only, no code from the folder).

        `batch_tokens`: rows x (longest prompt + max_tokens) of a batch, by default 32768 on a GPU and 8192 on a CPU;
        lower it if memory runs out. `context`: maximum of prompt and answer together, by default the model's limit.
        `thinking`: as in `chat.encode`. `identity`: by default a digest of the files. `device`: by default "cuda" if
        available. Raise ModelInvalid if the files cannot be loaded.
        """
        import torch

        device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        tokenizer = chat.load_tokenizer(weights)
        self._base = partial(load_model, weights, dtype=dtype, device=device)
        super().__init__(self._base(adapter, serve=serve), tokenizer, context, batch_tokens, thinking)
        self._used = str(adapter or "")
        self.stops = chat.stop_ids(self.tokenizer, self.model.generation_config)
        self.identity = identity or _content_identity(weights, adapter)
        self.settings: Mapping[str, Any] = {
            "device": torch.cuda.get_device_name() if self.device == "cuda" else self.device,
            "dtype": dtype,
            "context": self.context,
            "batch_tokens": self.batch_tokens,
            "attention": self.model.config._attn_implementation,
            "serve": serve if adapter else None,
        }

    def use(self, adapter: Path | None, content: str) -> None:
        """Switch to this adapter, or to the base model (None); `content` identifies the adapter.

        Raise ModelInvalid if it does not fit; the backend then has the base model only.
        """
        content = content if adapter else ""
        if content == self._used:
            return
        self._forget()
        if self._used:
            self.model, self._used = self.model.unload(), ""
        if not adapter:
            return
        try:
            self.model = _with_adapter(self.model, adapter).eval()
        except ModelInvalid:  # the failed load may have changed the base model
            self.model = self._base(None)
            raise
        self._used = content

    def generate(self, requests: Sequence[Generate], sampling: Sampling) -> Iterator[list[tuple[int, Completion]]]:
        """Yield batches, longest prompts first; a prompt without room for its answer is refused, never cut.

        `FEWEST_SHARING` prompts or more (all of them, if there are fewer) that share the messages before the last one
        are in batches of their own, one after another, by the longest of them.
        """
        self._forget()
        encoded = [self._encode(request.messages) for request in requests]
        prompts = [conversation.input_ids for conversation in encoded]
        fits = chat.have_room(prompts, sampling.max_tokens, self.context)
        if refused := [at for at, has_room in enumerate(fits) if not has_room]:
            yield [(at, Completion("", None, None, "refused", len(prompts[at]), 0)) for at in refused]
        prefixes = self._shared_prefixes(encoded)
        longest = defaultdict[tuple[int, ...], int](int)
        for prefix, prompt in zip(prefixes, prompts, strict=True):
            longest[prefix] = max(longest[prefix], len(prompt))
        order = sorted(
            (at for at, has_room in enumerate(fits) if has_room),
            key=lambda at: (-longest[prefixes[at]], prefixes[at], -len(prompts[at])),
        )
        complete = partial(chat.completion_from_ids, self.tokenizer, self.stops)
        while order:
            rows = max(1, self.batch_tokens // (len(prompts[order[0]]) + sampling.max_tokens))
            prefix = prefixes[order[0]]
            batch = [at for at in order[:rows] if prefixes[at] == prefix]
            order = order[len(batch) :]
            chances = [Random(request_seed(requests[at], sampling)) for at in batch]
            asked = [prompts[at] for at in batch]
            shared = _batches.common_beginning(asked) if self._computes_in_parts else ()
            answers = self._decode(asked, shared, chances, sampling)
            yield [
                (at, complete(len(prompts[at]), ids, logprobs if sampling.logprobs else None))
                for at, (ids, logprobs) in zip(batch, answers, strict=True)
            ]
        self._forget()

    def _shared_prefixes(self, prompts: Sequence[chat.Encoded]) -> list[tuple[int, ...]]:
        """Return for each prompt the messages before its last one, if enough of the others have the same, else ()."""
        same: dict[tuple[int, ...], tuple[int, ...]] = {}
        prefixes = [same.setdefault(prefix, prefix) for prefix in map(self._prefix, prompts)]
        sharing = Counter(prefixes)
        return [prefix if sharing[prefix] >= min(FEWEST_SHARING, len(prompts)) else () for prefix in prefixes]

    def _decode(
        self,
        prompts: Sequence[Sequence[int]],
        prefix: Sequence[int],
        chances: Sequence[Random],
        sampling: Sampling,
    ) -> list[tuple[list[int], list[float]]]:
        """Return token ids and log-probabilities of each row, including the end of turn; longest prompts come first."""
        import torch

        from excam.inference.backends._appending_cache import append_in_place, join_caches

        answers: list[tuple[list[int], list[float]]] = [([], []) for _ in prompts]
        rows = list(range(len(prompts)))
        with torch.inference_mode():
            groups = _batches.groups_of_like_length(prompts) if self._computes_in_parts else [prompts]
            passes = [self._pass(group, prefix, 1, keeps=True) for group in groups]
            logits = torch.cat([out.logits[:, -1].float() for *_, out in passes])
            _, mask, out = passes[0]
            cache = out.past_key_values
            if self._keeps_plain_prompt:
                caches = [out.past_key_values for *_, out in passes]
                cache, mask = join_caches(caches, [mask for _, mask, _ in passes])
                append_in_place(cache)
            for done in range(1, sampling.max_tokens + 1):
                chosen = _batches.next_tokens(logits, [chances[row] for row in rows], sampling)
                scores = logits.log_softmax(-1).gather(-1, chosen).squeeze(-1).tolist()
                tokens = chosen.squeeze(-1).tolist()
                for row, token, score in zip(rows, tokens, scores, strict=True):
                    answers[row][0].append(token)
                    answers[row][1].append(score)
                keep = [at for at, token in enumerate(tokens) if token not in self.stops and done < sampling.max_tokens]
                if not keep:
                    break
                if len(keep) < len(rows):
                    remaining = torch.tensor(keep, device=self.device)
                    cache.reorder_cache(remaining)  # layers with a recurrent state lack `batch_select_indices`
                    chosen, mask = chosen[remaining], mask[remaining]
                    rows = [rows[at] for at in keep]
                mask = torch.cat([mask, mask.new_ones(len(rows), 1)], dim=-1)
                out = self.model(
                    input_ids=chosen,
                    attention_mask=mask,
                    position_ids=mask.sum(-1, keepdim=True) - 1,
                    past_key_values=cache,
                    use_cache=True,
                    logits_to_keep=self._last_positions(chosen, 1),
                )
                logits, cache = out.logits[:, -1].float(), out.past_key_values
        return answers


def _copies(cache: Any, rows: int) -> Any:
    """Return keys and values for so many rows; `cache` stays as it is, since a layer replaces its tensors."""
    cache = copy.copy(cache)
    cache.layers = [copy.copy(layer) for layer in cache.layers]
    if rows > 1:
        cache.batch_repeat_interleave(rows)
    return cache


def load_model(weights: Path, adapter: Path | None, *, dtype: str, serve: str = "lora", device: str = "cpu") -> Any:
    """Return the model of a folder with its adapter, separate or merged (`serve`). Raise ModelInvalid.

    Args:
        weights: the folder of the model
        adapter: the folder of a LoRA adapter; None: the base model alone
        dtype: a type of torch, such as bfloat16
        serve: lora: separate; merged: added to the weights
        device: where it is put
    """
    import torch
    from transformers import AutoModelForCausalLM

    model = load_pretrained(AutoModelForCausalLM, weights, getattr(torch, dtype))
    if adapter is not None:
        model = _with_adapter(model, adapter)
        model = model.merge_and_unload() if serve == "merged" else model
    with loading(weights):
        return model.to(device).eval()


def _with_adapter(model: PreTrainedModel, adapter: Path) -> Any:
    """Return the model with the adapter. Raise ModelInvalid unless every LoRA weight of the file has a module."""
    from peft import PeftModel, get_peft_model_state_dict
    from safetensors import safe_open

    lora.read(adapter)
    file = chat.adapter_weights(adapter)
    with loading(adapter, lora.WEIGHTS), safe_open(file, "pt") as stored:
        tuned = PeftModel.from_pretrained(model, adapter, local_files_only=True)
        unlike = set(stored.keys()) ^ set(get_peft_model_state_dict(tuned, save_embedding_layers=False))
    if unlike:
        raise ModelInvalid(
            f"{adapter}: {len(unlike)} LoRA weights without a counterpart, e.g. {min(unlike)}; expected an adapter of "
            "this very model class; train it on this base"
        )
    for name, weight in tuned.named_parameters():
        if "lora_" in name:  # only these: the frequencies of the rotary embedding stay float32
            weight.data = weight.data.to(model.dtype)  # PEFT would compute in float32; the serving engines do not
    return tuned


def _content_identity(*folders: Path | None) -> str:
    """Return a digest of the JSON, Jinja and weight files of the folders, which determine the answers."""
    digest = hashlib.sha256()
    for folder in folders:
        for file in sorted(folder.iterdir()) if folder else ():
            if file.suffix in (".json", ".jinja", ".safetensors", ".model"):
                with file.open("rb") as stream:
                    digest.update(file.name.encode() + hashlib.file_digest(stream, "sha256").digest())
        digest.update(b"|")
    return f"transformers|{digest.hexdigest()}"
