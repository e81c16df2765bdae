"""Translation models with an encoder and a decoder (NLLB, MADLAD) by transformers, on one CPU or GPU.

The last message is the text to translate; there is no prompt. An entry of `models:` names the languages by the model's
own codes: `engine: {source: zho_Hans, target: eng_Latn}` for NLLB, `engine: {target: en}` for MADLAD. NLLB begins the
answer with the target's token, MADLAD reads `<2en>` in front of the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import regex

from excam.config import Model
from excam.core.exceptions import ModelInvalid
from excam.inference import Choice, Choose, Completion, Generate, Message, Sampling, chat
from excam.inference.backends._batches import next_tokens, padded
from excam.inference.cache_keys import request_seed
from excam.inference.loading import load_pretrained, loading

VERSION = 2
PACKAGES = ("torch", "transformers")
BATCH = 8  # texts that are translated together


def open_model(name: str, model: Model, files: Path | None, adapter: Path | None, identity: str) -> Backend:
    """Return the backend for an entry of `models:`; see `backends`. Raise ModelInvalid for an adapter."""
    assert files is not None, "weights are fetched first"
    if adapter is not None:
        raise ModelInvalid(f"{adapter}: found an adapter for {name}; expected none: backend seq2seq has no adapters")
    languages = {key: str(value) for key, value in model.engine.items()}
    return Backend(files, languages, dtype=model.dtype, context=model.context, identity=identity)


class Backend:
    """An encoder-decoder model from a local folder, between two languages."""

    def __init__(
        self,
        weights: Path,
        languages: Mapping[str, str],
        *,
        dtype: str = "float32",
        context: int | None = None,
        identity: str = "",
    ) -> None:
        """Load the model (safetensors only, local files only, no code from the folder).

        `languages` has `target`, and `source` where the tokenizer marks it. `context`: the longest source and answer in
        tokens, by default the model's limit. Raise ModelInvalid for files that cannot be loaded, or a language that the
        model does not know.
        """
        import torch
        from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        with loading(weights):
            self.tokenizer: Any = AutoTokenizer.from_pretrained(weights, local_files_only=True, trust_remote_code=False)
        model = load_pretrained(AutoModelForSeq2SeqLM, weights, getattr(torch, dtype))
        with loading(weights):
            self.model = model.to(self.device).eval()
        config = self.model.config
        self.identity = identity or f"seq2seq|{weights}"
        self.end = int(config.eos_token_id)
        prefix, self.start = _languages(self.tokenizer, config, languages)
        self.marks = _marks(self.tokenizer)
        whole, part = self.tokenizer(f"{prefix}a").input_ids, self._text_ids("a")
        at = next(at for at in range(len(whole)) if whole[at : at + len(part)] == part)
        self.before, self.after = whole[:at], whole[at + len(part) :]  # around the ids of a source
        # T5 has no limit; MADLAD was trained on less
        longest = getattr(config, "max_position_embeddings", None) or 1024
        self.context = min(context or longest, longest)
        self.settings: Mapping[str, Any] = {
            "device": torch.cuda.get_device_name() if self.device == "cuda" else self.device,
            "dtype": dtype,
            "context": self.context,
            "batch": BATCH,
            **languages,
        }

    def generate(self, requests: Sequence[Generate], sampling: Sampling) -> Iterator[list[tuple[int, Completion]]]:
        """Yield batches of translations, longest texts first; a text that does not fit is refused, never cut."""
        sources = [self._encode(request.messages) for request in requests]
        if refused := [at for at, ids in enumerate(sources) if len(ids) > self.context]:
            yield [(at, Completion("", None, None, "refused", len(sources[at]), 0)) for at in refused]
        order = sorted(
            (at for at, ids in enumerate(sources) if len(ids) <= self.context), key=lambda a: -len(sources[a])
        )
        complete = partial(chat.completion_from_ids, self.tokenizer, {self.end})
        for first in range(0, len(order), BATCH):
            batch = order[first : first + BATCH]
            chances = [Random(request_seed(requests[at], sampling)) for at in batch]
            answers = self._decode([sources[at] for at in batch], chances, sampling)
            yield [
                (at, complete(len(sources[at]), ids, logprobs if sampling.logprobs else None, own_spaces=True))
                for at, (ids, logprobs) in zip(batch, answers, strict=True)
            ]

    def choose(self, requests: Sequence[Choose]) -> Iterator[list[tuple[int, Choice]]]:
        """Raise ModelInvalid: it translates and judges nothing."""
        raise ModelInvalid("backend seq2seq: found a request for likelihoods; expected texts to translate")

    def _encode(self, messages: Sequence[Message]) -> list[int]:
        """Return the ids of the last message, with the marks of its language and of its end."""
        return [*self.before, *self._text_ids(messages[-1].content), *self.after]

    def _text_ids(self, text: str) -> list[int]:
        """Return the ids of a text; what is spelled as a mark of an end or a language is read sign by sign."""
        ids: list[int] = self._split_ids(text)
        spelled = {mark: self._split_ids(" ".join(self.marks[mark])) for mark in self.marks.keys() & set(ids)}
        return [id_ for token_id in ids for id_ in spelled.get(token_id, (token_id,))]

    def _split_ids(self, text: str) -> list[int]:
        return self.tokenizer(text, add_special_tokens=False, split_special_tokens=True).input_ids

    def _decode(
        self, sources: Sequence[Sequence[int]], chances: Sequence[Random], sampling: Sampling
    ) -> list[tuple[list[int], list[float]]]:
        """Return token ids and log-probabilities of each row, including the end; what follows an end is dropped."""
        import torch

        answers: list[tuple[list[int], list[float]]] = [([], []) for _ in sources]
        ids = padded(sources, self.tokenizer.pad_token_id or 0).to(self.device)
        mask = padded([[1] * len(source) for source in sources]).to(self.device)
        open_rows = set(range(len(sources)))
        with torch.inference_mode():
            encoded = self.model.get_encoder()(input_ids=ids, attention_mask=mask)
            decoder_ids = torch.tensor([list(self.start)] * len(sources), device=self.device)
            cache = None
            for _ in range(min(sampling.max_tokens, self.context - len(self.start))):
                out = self.model(
                    encoder_outputs=encoded,
                    attention_mask=mask,
                    decoder_input_ids=decoder_ids,
                    past_key_values=cache,
                    use_cache=True,
                )
                logits, cache = out.logits[:, -1].float(), out.past_key_values
                decoder_ids = next_tokens(logits, chances, sampling)
                scores = logits.log_softmax(-1).gather(-1, decoder_ids).squeeze(-1).tolist()
                for row in sorted(open_rows):
                    token = int(decoder_ids[row, 0])
                    answers[row][0].append(token)
                    answers[row][1].append(scores[row])
                    if token == self.end:
                        open_rows.discard(row)
                if not open_rows:
                    break
        return answers


def _languages(tokenizer: Any, config: Any, languages: Mapping[str, str]) -> tuple[str, tuple[int, ...]]:
    """Return what stands in front of a source, and the ids with which every answer begins.

    Raise ModelInvalid for a missing or an unknown language, or a model of another kind.
    """
    roles = {"m2m_100": ("source", "target"), "t5": ("target",)}.get(config.model_type)
    if roles is None or set(languages) != set(roles):
        raise ModelInvalid(
            f"engine: found {', '.join(languages) or 'nothing'} for {config.model_type}; expected source, target for "
            "m2m_100 (NLLB), target for t5 (MADLAD)"
        )
    start = int(config.decoder_start_token_id)
    if config.model_type == "t5":
        mark = f"<2{languages['target']}>"
        _refuse_unknown(tokenizer, mark, languages["target"])
        return f"{mark} ", (start,)
    for code in languages.values():
        _refuse_unknown(tokenizer, code, code)
    tokenizer.src_lang = languages["source"]
    return "", (start, tokenizer.convert_tokens_to_ids(languages["target"]))


def _marks(tokenizer: Any) -> dict[int, str]:
    """Return the tokens that a model takes as a command and no text may hold, by id: <2en>, </s>, a code of NLLB.

    Bytes (<0x0A>) and the unknown sign are what other texts are made of.
    """
    named = {
        token: token_id for token, token_id in tokenizer.get_vocab().items() if regex.fullmatch(r"<[^<>\s]+>", token)
    }
    tokens = named | tokenizer.get_added_vocab()
    byte = regex.compile("<0x[0-9A-F]{2}>")
    return {
        token_id: token
        for token, token_id in tokens.items()
        if token_id != tokenizer.unk_token_id and not byte.fullmatch(token)
    }


def _refuse_unknown(tokenizer: Any, token: str, code: str) -> None:
    if tokenizer.convert_tokens_to_ids(token) in (None, tokenizer.unk_token_id):
        raise ModelInvalid(f"engine: found language {code}; expected a code of this model's tokenizer")
