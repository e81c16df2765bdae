"""What a job needs to ask a model: the options that describe it, and a process with an environment and GPUs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from excam.core.provenance import refuse_changed, say

if TYPE_CHECKING:  # imported by what asks: most steps of a module that imports this one ask no model
    from excam.config import Model
    from excam.inference import Generate
    from excam.scoring.asking import Asker, Recorder
    from excam.scoring.opened_model import OpenedModel


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """What describes a model, read by `model_of`."""

    model: Annotated[str, "the model's entry of config.yaml as JSON"]
    gpus: Annotated[int, "how many GPUs the model may use"] = 0
    pace: Annotated[str, "how hard it is asked and how its engine is tuned, as JSON; decides no answer"] = "{}"


@dataclass(frozen=True, kw_only=True)
class AskingOptions(ModelOptions):
    """All that `asker_of` reads."""

    weights_path: Annotated[Path | None, "manifest of the fetched base model"] = None
    adapter_path: Annotated[Path | None, "manifest of the adapter"] = None
    journal_path: Annotated[Path, "the response cache of all jobs of this kind"]
    seed: int


@dataclass(frozen=True, kw_only=True)
class RecordedOptions(AskingOptions):
    """All that `recorder_of` reads and writes."""

    transcript_path: Annotated[Path, "every request and answer"]
    manifest_path: Annotated[Path, "what it was made of, and what it cost"]


def model_of(options: ModelOptions) -> Model:
    """Return the entry of `models:` that the options describe."""
    from excam.inference import backend_factory

    return backend_factory.parse_model_spec(options.model, options.gpus, options.pace)


def prepare_process(model: Model, job: str, weights: Path | None = None, adapter: Path | None = None) -> None:
    """Give this process what the model needs: an environment with vLLM, and GPUs that no other job has.

    Where vLLM is not installed and `./setup.sh vllm` made its environment, go on as the same program in there. Before
    GPUs are taken, the files of these manifests are compared with them: that takes minutes, and no GPU. An engine that
    jobs share takes its GPUs itself. Raises ModelInvalid if torch can use fewer GPUs than the model wants.
    """
    from excam.inference import backend_factory, gpus
    from excam.inference.vllm_environment import python_with_vllm

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


def asker_of(
    options: AskingOptions, name: str, job: str, first: Callable[[OpenedModel], Generate] | None = None
) -> Asker:
    """Return the model of the options, ready to be asked, in a process that is prepared for it.

    `name` is the key of the model in `models:`, `job` what messages about its GPUs call this process. `first` returns
    what will be asked first, where results depend on what the model's server takes.
    """
    from excam.inference import backend_factory
    from excam.inference.journal import Journal
    from excam.scoring.asking import Asker
    from excam.scoring.models import open_entry
    from excam.scoring.opened_model import ModelEntry

    model = model_of(options)
    prepare_process(model, job, options.weights_path, options.adapter_path)
    journal, sampling = Journal(options.journal_path), backend_factory.sampling_for(model, options.seed)
    entry = ModelEntry(name, model, options.weights_path, options.adapter_path)
    probe = first and (lambda opened: (first(opened), sampling))
    return Asker(open_entry(entry, probe, journal), sampling, journal)


def recorder_of(
    options: RecordedOptions, name: str, job: str, first: Callable[[OpenedModel], Generate] | None = None
) -> Recorder:
    """Return what asks the model of the options, as `asker_of`, or nobody, and writes transcript and manifest."""
    from excam.scoring.asking import Recorder

    asker = None if options.model == "null" else asker_of(options, name, job, first)
    files = [path for path in (options.weights_path, options.adapter_path) if path]
    return Recorder(asker, options.transcript_path, options.manifest_path, json.loads(options.model), files)
