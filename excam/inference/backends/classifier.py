"""Models that classify and write nothing, by transformers, on one CPU or GPU: the kind is the class of config.json.

A `Choose` holds what is read and, last, what is judged by it. The two are a pair of the model's tokenizer; after a
system message, they are one text that begins with it, and the end token parts them. Of each option, the answer holds
the log-probability of

- the label of this name (...ForSequenceClassification);
- label 0 for the least probable token of this part of the last message; the parts are in order, each behind the last
  (...ForTokenClassification);
- this option's first token as the first of the answer, among those of all options (...ForConditionalGeneration).

A text that does not fit is never cut: its answer has no log-probabilities.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from excam.config import Model
from excam.core.exceptions import ModelInvalid
from excam.inference import Choice, Choose, Completion, Generate, Sampling
from excam.inference.backends._batches import padded
from excam.inference.loading import config_of, loading

if TYPE_CHECKING:
    import torch

VERSION = 1
PACKAGES = ("torch", "transformers")
LABELS, MARKS, FIRST_WORD = "SequenceClassification", "TokenClassification", "ConditionalGeneration"
KINDS = (LABELS, MARKS, FIRST_WORD)
LONGEST = {FIRST_WORD: 2048}  # T5 has no limit: that of MiniCheck's program (minicheck/inference.py)
LONGEST_OTHER = 4096  # as LettuceDetect was trained; ModernBERT takes 8192
BATCH_TOKENS = 4096  # of one pass, with padding
DIGITS = 5  # kept of a log-probability: the rows of a batch change the sixth


def kind_of(folder: Path) -> str:
    """Return which of KINDS a folder holds, "" for a model that writes or a folder that is none."""
    architecture = architecture_of(folder)
    kind = next((kind for kind in KINDS if architecture.endswith(f"For{kind}")), "")
    writes = kind == FIRST_WORD and not config_of(folder).get("is_encoder_decoder")  # Gemma 3 is called so too
    return "" if writes else kind


def architecture_of(folder: Path) -> str:
    """Return the class of a model's config.json, "" if it names none."""
    architectures = config_of(folder).get("architectures")
    return str(architectures[0]) if isinstance(architectures, list) and architectures else ""


def labels_of(folder: Path) -> tuple[str, ...]:
    """Return the labels of a classifier by id; those of two labels without names are LABEL_0 and LABEL_1."""
    names = config_of(folder).get("id2label")
    labels = {str(number): str(name) for number, name in names.items()} if isinstance(names, dict) else {}
    return tuple(labels.get(str(number), f"LABEL_{number}") for number in range(len(labels) or 2))


def open_model(name: str, model: Model, files: Path | None, adapter: Path | None, identity: str) -> Backend:
    """Return the backend for an entry of `models:`; see `backends`. Raise ModelInvalid for an adapter."""
    assert files is not None, "weights are fetched first"
    if adapter is not None:
        raise ModelInvalid(f"{adapter}: found an adapter for {name}; expected none: backend classifier has no adapters")
    return Backend(files, dtype=model.dtype, context=model.context, identity=identity)


class Backend:
    """A classifier from a local folder."""

    def __init__(
        self, weights: Path, *, dtype: str = "float32", context: int | None = None, identity: str = ""
    ) -> None:
        """Load the model: safetensors only, local files only, no code from the folder.

        `context`: the longest input in tokens, by default the model's limit. Raise ModelInvalid for files that cannot
        be loaded, for a model of another kind, and for one without the weights of its head.
        """
        import torch
        import transformers

        self.kind, self.identity = kind_of(weights), identity or f"classifier|{weights}"
        if not self.kind:
            architecture = architecture_of(weights) or "no architecture"
            raise ModelInvalid(
                f"{weights}: found {architecture} in config.json; expected ...For{', ...For'.join(KINDS)}"
            )
        loader = getattr(transformers, f"AutoModelFor{'Seq2SeqLM' if self.kind == FIRST_WORD else self.kind}")
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        with loading(weights):
            local = {"local_files_only": True, "trust_remote_code": False}
            self.tokenizer: Any = transformers.AutoTokenizer.from_pretrained(weights, **local)
            model, loaded = loader.from_pretrained(
                weights, dtype=getattr(torch, dtype), use_safetensors=True, output_loading_info=True, **local
            )
            self.model = model.to(self.device).eval()
        if missing := sorted(loaded["missing_keys"]):
            raise ModelInvalid(f"{weights}: no weights of {missing[0]}; expected all of {type(model).__name__}")
        config = self.model.config
        pad = getattr(config, "pad_token_id", None)
        self.pad = config.pad_token_id = int(self.tokenizer.pad_token_id or 0) if pad is None else int(pad)
        self.labels = tuple(str(config.id2label[number]) for number in range(config.num_labels))
        self.longest = min(context or LONGEST_OTHER, _longest(self.model, self.tokenizer, self.kind))
        self.settings: Mapping[str, Any] = {"device": self.device, "dtype": dtype, "context": self.longest}

    def generate(self, requests: Sequence[Generate], sampling: Sampling) -> Iterator[list[tuple[int, Completion]]]:
        """Raise ModelInvalid: it writes nothing."""
        raise ModelInvalid(
            f"--model: found {type(self.model).__name__}, which classifies and writes nothing; expected a model that "
            "writes; `--judge grounded --evidence PACK` reads with this one"
        )

    def choose(self, requests: Sequence[Choose]) -> Iterator[list[tuple[int, Choice]]]:
        """Yield batches of texts of like length, longest first."""
        encoded = [self._encode(request) for request in requests]
        sizes = [len(each["input_ids"]) for each in encoded]
        if unfit := [at for at, size in enumerate(sizes) if size > self.longest]:
            yield [(at, Choice(None, None, sizes[at])) for at in unfit]
        order = sorted((at for at, size in enumerate(sizes) if size <= self.longest), key=lambda at: -sizes[at])
        while order:
            rows = max(1, BATCH_TOKENS // sizes[order[0]])
            batch, order = order[:rows], order[rows:]
            logits = self._logits([encoded[at] for at in batch])
            yield [
                (at, _choice(self._logprobs(requests[at], encoded[at], row), sizes[at]))
                for at, row in zip(batch, logits, strict=True)
            ]

    def _plain(self, text: str) -> str:
        """Return a text of the same length in which nothing is spelled as a token of the model's own."""
        text = text.encode("utf-8", "replace").decode()
        for token in self.tokenizer.all_special_tokens:
            text = text.replace(token, f"({token[1:]}")
        return text

    def _encode(self, request: Choose) -> Any:
        first, second = (self._plain(message.content) for message in request.messages[-2:])
        if len(request.messages) == 2:
            return self.tokenizer(first, second, return_offsets_mapping=True, verbose=False)
        whole = f"{request.messages[0].content}{first}{self.tokenizer.eos_token or self.tokenizer.sep_token}{second}"
        return self.tokenizer(whole, verbose=False)

    def _logits(self, rows: Sequence[Any]) -> torch.Tensor:
        """Return the logits of rows, padded on the right, [rows, ...]: of labels, of tokens and labels, or of words."""
        import torch

        fillings = {"input_ids": self.pad, "attention_mask": 0}
        if "token_type_ids" in rows[0] and "token_type_ids" in self.tokenizer.model_input_names:
            fillings["token_type_ids"] = 0
        inputs = {
            name: padded([row[name] for row in rows], filling).to(self.device) for name, filling in fillings.items()
        }
        if self.kind == FIRST_WORD:
            start = self.model.config.decoder_start_token_id
            inputs["decoder_input_ids"] = torch.full((len(rows), 1), start, device=self.device)
        with torch.inference_mode():
            return self.model(**inputs).logits.float().cpu()

    def _logprobs(self, request: Choose, encoded: Any, logits: torch.Tensor) -> list[float]:
        if self.kind == LABELS:
            scores = logits.log_softmax(-1).tolist()
            return [scores[self.labels.index(option)] for option in request.options]
        if self.kind == MARKS:
            return self._of_parts(request, encoded, logits.log_softmax(-1)[:, 0].tolist())
        words = [self.tokenizer(option, add_special_tokens=False).input_ids[0] for option in request.options]
        return logits[0, words].log_softmax(-1).tolist()

    def _of_parts(self, request: Choose, encoded: Any, scores: Sequence[float]) -> list[float]:
        text, end, result = self._plain(request.messages[-1].content), 0, list[float]()
        marks = [
            (*encoded["offset_mapping"][at], scores[at]) for at, part in enumerate(encoded.sequence_ids()) if part == 1
        ]
        for option in request.options:
            start = text.index(self._plain(option), end)
            end = start + len(option)
            result.append(min((score for first, last, score in marks if first < end and last > start), default=0.0))
        return result


def _choice(logprobs: Sequence[float], size: int) -> Choice:
    return Choice(tuple(round(logprob, DIGITS) for logprob in logprobs), (1,) * len(logprobs), size)


def _longest(model: Any, tokenizer: Any, kind: str) -> int:
    """Return the longest input in tokens: the least of what weights, tokenizer and training allow."""
    positions = getattr(model.config, "max_position_embeddings", None)
    before = getattr(getattr(model.base_model, "embeddings", None), "padding_idx", None)  # RoBERTa counts from there
    allowed = [LONGEST.get(kind, LONGEST_OTHER), tokenizer.model_max_length]
    return min([*allowed, positions - (before + 1 if before is not None else 0)] if positions else allowed)
