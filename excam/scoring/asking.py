"""Ask a model, in a command and in a job alike: with a journal, a transcript, and a manifest beside the result."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from excam.core.names import shown_name
from excam.core.provenance import Progress, quiet_libraries, say, write_manifest
from excam.inference import Answer, Ask, Flow, R, Sampling, transcript
from excam.inference.journal import Journal, ask, totals
from excam.inference.run import ItemT
from excam.scoring.files import journal_of
from excam.scoring.models import open_model
from excam.scoring.opened_model import OpenedModel
from excam.scoring.options import Serving
from excam.scoring.scorer import ask_nobody


class Asker:
    """An open model, how it decodes, and the journal of its answers."""

    def __init__(self, opened: OpenedModel, sampling: Sampling, journal: Journal) -> None:
        self.opened, self.sampling, self.journal = opened, sampling, journal
        self.backend = opened.backend

    def ask_with_progress(self, what: str, rows: int | None) -> Ask:
        """Return the function that asks this model, keeps answers in the journal, and prints how many rows are done.

        `rows` is None where it is not known how many requests there will be.
        """
        return partial(ask, self.backend, self.sampling, self.journal, progress=Progress(what, rows))

    def facts(self, answers: Iterable[Answer]) -> dict[str, Any]:
        """Return what a manifest records: identity and engine, and counts, tokens and cost of these answers.

        Say so if the model was asked for reasoning and gave none, or the reverse.
        """
        name, model = self.backend.name, self.backend.model
        counted = totals(answers, model.server and model.server.price)
        if problem := thinking_problem(model.thinking, counted):
            say(f"{name}: {problem}; check its chat template, or the server's setting for reasoning")
        return {"identity": self.backend.identity, "engine": self.backend.settings, **counted}


class Recorder:
    """Writes a transcript of all that a model is asked, and a manifest. Without a model there is no `asker`.

    The manifest has the settings of the model, and the files that it is made of.
    """

    def __init__(
        self,
        asker: Asker | None,
        transcript_path: Path,
        manifest_path: Path,
        settings: Mapping[str, Any],
        model_files: Sequence[Path] = (),
    ) -> None:
        self.asker, self._settings, self._model_files = asker, settings, model_files
        self._transcript, self._manifest, self._started = transcript_path, manifest_path, time.monotonic()
        self._entries: list[transcript.TranscriptLine] = []

    @property
    def seconds(self) -> float:
        """Return the seconds since this was made."""
        return time.monotonic() - self._started

    @property
    def model_name(self) -> str:
        """Return the name of the model for tables. Raises InputInvalid for one that cannot be shown."""
        assert self.asker, "a table of answers has a model"
        return shown_name(self.asker.opened.label, "--model")

    def record(self, what: str, flow: Callable[[ItemT], Flow[R]], items: Sequence[ItemT], rows: int | None) -> list[R]:
        """Run the flow for every item, write the transcript, and return the results in the order of the items.

        `what` is the first part of the progress lines; they count to `rows`, None where that is not known.

        Args:
            what: the first part of the progress lines
            flow: asks about one item
            items: what is asked about
            rows: to which progress counts; None where that is not known
        """
        ask_model = self.asker.ask_with_progress(what, rows) if self.asker else ask_nobody
        results, self._entries = transcript.record(flow, items, ask_model)
        transcript.write(self._transcript, self._entries)
        return results

    def write_manifest(
        self,
        inputs: Iterable[Path | None],
        outputs: Iterable[Path] = (),
        settings: Mapping[str, Any] | None = None,
        **facts: Any,
    ) -> None:
        """Write the manifest: these inputs and the model's; the transcript and these outputs; what was asked.

        The settings are by default those of the model.
        """
        write_manifest(
            self._manifest,
            inputs=[path for path in (*inputs, *self._model_files) if path],
            outputs=[self._transcript, *outputs],
            settings=self._settings if settings is None else settings,
            seconds=self.seconds,
            **(self.asker.facts(transcript.answers(self._entries)) if self.asker else {}),
            **facts,
        )


@contextmanager
def recorded_answers(model: str, serving: Serving, max_tokens: int, source: Path, to: Path) -> Iterator[Recorder]:
    """Open a model and yield what asks it about items that were read from `source`.

    Answers are kept in a journal beside `to`: a killed command continues. At the end of the block, where `to` is
    written, `<to>.transcript.jsonl` holds every request and answer, and `<to>.manifest.json` the hashes of the files,
    the model, counts and tokens; the journal is removed. Raise as `open_model` does.

    Args:
        model: as `--model` has it
        serving: the engine of a local model, or how one behind a server is asked
        max_tokens: of one answer
        source: the file that the items were read from, for the manifest
        to: the file that the caller writes
    """
    quiet_libraries()
    journal = Journal(journal_of(to))
    opened = open_model(model, serving=serving, journal=journal)
    asker = Asker(opened, Sampling(max_tokens=max_tokens, logprobs=False), journal)
    transcript_path, manifest = (to.with_name(f"{to.name}.{kind}") for kind in ("transcript.jsonl", "manifest.json"))
    recorder = Recorder(asker, transcript_path, manifest, {"model": opened.described, "max_tokens": max_tokens})
    yield recorder
    recorder.write_manifest([source], [to])
    journal_of(to).unlink(missing_ok=True)


def thinking_problem(setting: bool | None, counted: Mapping[str, Any]) -> str:
    """Return how the reasoning in answers, counted by `totals`, contradicts what was asked for; "" if it does not.

    Answers that were cut are not held against a model: the end of their reasoning is missing.
    """
    finished, total = counted["answers"].get("stop", 0), sum(counted["answers"].values())
    with_reasoning = counted["thinking"]
    if setting and finished and not with_reasoning:
        return f"thinking was asked for, and none of {finished} answers holds any; expected it in each"
    if setting is False and with_reasoning:
        return f"thinking was switched off, and {with_reasoning} of {total} answers hold it; expected none"
    return ""
