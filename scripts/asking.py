"""Ask a model in a job: the options for it, an environment and GPUs, its answers, what a manifest records of them."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from excam.config import Model
from excam.core.exceptions import AnswersMissing, ModelInvalid
from excam.core.provenance import Progress, refuse_changed, say, write_manifest
from excam.inference import Answer, Ask, Flow, Generate, R, Request, backend_factory, gpus, transcript
from excam.inference.journal import Journal, ask, totals
from excam.inference.run import ItemT
from excam.inference.vllm_environment import python_with_vllm
from excam.scoring.scorer import ask_nobody
from excam.scoring.served_model import ServedBackend

REFUSES_A_PART = re.compile("HTTP (400|422|500)")  # what servers say to a field that they do not take


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """What describes a model, read by `model_of`."""

    model: Annotated[str, "the model's entry of config.yaml as JSON"]
    gpus: Annotated[int, "how many GPUs the model may use"] = 0
    pace: Annotated[str, "how hard it is asked and how its engine is tuned, as JSON; decides no answer"] = "{}"


@dataclass(frozen=True, kw_only=True)
class AskingOptions(ModelOptions):
    """All that `Asker` reads."""

    weights_path: Annotated[Path | None, "manifest of the fetched base model"] = None
    adapter_path: Annotated[Path | None, "manifest of the adapter"] = None
    journal_path: Annotated[Path, "the response cache of all jobs of this kind"]
    seed: int


@dataclass(frozen=True, kw_only=True)
class RecordedOptions(AskingOptions):
    """All that `Recorder` reads and writes."""

    transcript_path: Annotated[Path, "every request and answer"]
    manifest_path: Annotated[Path, "what it was made of, and what it cost"]


def model_of(options: ModelOptions) -> Model:
    """Return the entry of `models:` that the options describe."""
    return backend_factory.parse_model_spec(options.model, options.gpus, options.pace)


def prepare_process(model: Model, job: str, weights: Path | None = None, adapter: Path | None = None) -> None:
    """Give this process what the model needs: an environment with vLLM, and GPUs that no other job has.

    Where vLLM is not installed and `./setup.sh vllm` made its environment, go on as the same program in there. Before
    GPUs are taken, the files of these manifests are compared with them: that takes minutes, and no GPU. An engine that
    jobs share takes its GPUs itself. Raises ModelInvalid if torch can use fewer GPUs than the model wants.
    """
    if getattr(sys.modules["__main__"].__spec__, "name", "") != "scripts.__main__":
        return
    python = python_with_vllm() if model.backend == "vllm" else None
    if python and python != Path(sys.executable):
        say(f"vLLM is not installed here; going on in {python.parents[1].name}")
        os.execv(python, [str(python), "-m", "scripts", *sys.argv[1:]])
    if model.is_local:
        gpus.refuse_unusable(model.gpus)
    for manifest, files in ((weights, "files"), (adapter, "")):
        if manifest:
            refuse_changed(manifest, manifest.parent / files)
    if not backend_factory.shares_engine(model):
        gpus.take_gpus(model.gpus, job)


class Asker:
    """The model of the options, and a process that is prepared for it.

    `name` is the key of the model in `models:`, `job` what messages about its GPUs call this process.
    """

    def __init__(self, options: AskingOptions, name: str, job: str) -> None:
        model = model_of(options)
        prepare_process(model, job, options.weights_path, options.adapter_path)
        self.backend = backend_factory.SharedBackend(name, model, options.weights_path, options.adapter_path)
        self.sampling = backend_factory.sampling_for(model, options.seed)
        self.journal = Journal(options.journal_path)
        self.name, self.model, self.thinking = name, model, model.thinking
        self.price = model.server and model.server.price

    def ask_with_progress(self, what: str, rows: int | None) -> Ask:
        """Return the function that asks this model, keeps answers in the journal, and prints how many rows are done.

        `rows` is None where it is not known how many requests there will be.
        """
        asked = partial(ask, self.backend, self.sampling, self.journal, progress=Progress(what, rows))
        return partial(self._asked_at_server, asked) if self.model.server else asked

    def _asked_at_server(self, asked: Ask, requests: Sequence[Request]) -> Sequence[Answer]:
        """Ask. Where the server refuses parts of every request, say what to write in the configuration, and raise."""
        try:
            return asked(requests)
        except (AnswersMissing, ModelInvalid) as problem:
            texts = (request for request in requests if isinstance(request, Generate))
            first = next(texts, None) if REFUSES_A_PART.search(str(problem)) else None
            assert self.model.server, "it is behind one"
            named = self.model.server.model_copy(update={"name": self.model.server.name or self.model.hub or self.name})
            needed = ServedBackend(named, None).settings_needed(first, self.sampling) if first else {}
            if needed:
                say(f"{self.name}: its server answers if models.{self.name}.server has {json.dumps(needed)}")
            raise

    def facts(self, answers: Iterable[Answer]) -> dict[str, Any]:
        """Return what a manifest records: identity and engine, and counts, tokens and cost of these answers.

        Say so if the model was asked for reasoning and gave none, or the reverse.
        """
        counted = totals(answers, self.price)
        if problem := thinking_problem(self.thinking, counted):
            say(f"{self.name}: {problem}; check its chat template, or the server's setting for reasoning")
        return {"identity": self.backend.identity, "engine": self.backend.settings, **counted}


class Recorder:
    """Writes a transcript of all that a job asks, and a manifest. Without a model there is no `asker`."""

    def __init__(self, options: RecordedOptions, name: str, job: str) -> None:
        self.options, self.started, self.entries = options, time.monotonic(), list[transcript.Entry]()
        self.asker = None if options.model == "null" else Asker(options, name, job)

    @property
    def seconds(self) -> float:
        """Return the seconds since this was made."""
        return time.monotonic() - self.started

    def record(self, what: str, flow: Callable[[ItemT], Flow[R]], items: Sequence[ItemT], rows: int | None) -> list[R]:
        """Run the flow for every item, write the transcript, and return the results.

        `what` is the first part of the progress lines; they count to `rows`, None where that is not known.
        """
        ask_model = self.asker.ask_with_progress(what, rows) if self.asker else ask_nobody
        results, self.entries = transcript.record(flow, items, ask_model)
        transcript.write(self.options.transcript_path, self.entries)
        return results

    def write_manifest(
        self,
        inputs: Iterable[Path | None],
        outputs: Iterable[Path] = (),
        settings: Mapping[str, Any] | None = None,
        **facts: Any,
    ) -> None:
        """Write the manifest: these inputs, weights and adapter; the transcript and these outputs; what was asked.

        The settings are by default the model's entry.
        """
        options = self.options
        write_manifest(
            options.manifest_path,
            inputs=[path for path in (*inputs, options.weights_path, options.adapter_path) if path],
            outputs=[options.transcript_path, *outputs],
            settings=json.loads(options.model) if settings is None else settings,
            seconds=self.seconds,
            **(self.asker.facts(transcript.answers(self.entries)) if self.asker else {}),
            **facts,
        )


def thinking_problem(asked: bool | None, counted: Mapping[str, Any]) -> str:
    """Return how the reasoning in answers, counted by `totals`, contradicts what was asked for; "" if it does not.

    Answers that were cut are not held against a model: the end of their reasoning is missing.
    """
    finished, total = counted["answers"].get("stop", 0), sum(counted["answers"].values())
    with_reasoning = counted["thinking"]
    if asked and finished and not with_reasoning:
        return f"thinking was asked for, and none of {finished} answers holds any; expected it in each"
    if asked is False and with_reasoning:
        return f"thinking was switched off, and {with_reasoning} of {total} answers hold it; expected none"
    return ""
