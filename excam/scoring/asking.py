"""Ask a model in a command, with the record that the workflow keeps: a transcript and a manifest beside the result."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Protocol

from excam.core.provenance import Progress, quiet_libraries, say, write_manifest
from excam.inference import Flow, Generate, Message, R, Sampling, transcript
from excam.inference.journal import Journal, ask, totals
from excam.inference.run import ItemT
from excam.scoring.files import journal_of
from excam.scoring.models import open_model
from excam.scoring.server_options import Serving

SHORT = Generate((Message("system", "Answer briefly."), Message("user", "Answer with {}")))


class Asked(Protocol):
    """Run a flow for every item, and return the results in the order of the items, which have an `id`.

    `what` is the first part of the progress lines.
    """

    def __call__(self, flow: Callable[[ItemT], Flow[R]], items: Sequence[ItemT], what: str) -> list[R]: ...


@contextmanager
def recorded_answers(
    model: str, engine: str | None, serving: Serving, max_tokens: int, source: Path, to: Path
) -> Iterator[Asked]:
    """Open a model and yield the function that asks it about items that were read from `source`.

    Answers are kept in a journal beside `to`: a killed command continues. At the end of the block, where `to` is
    written, `<to>.transcript.jsonl` holds every request and answer, and `<to>.manifest.json` the hashes of the files,
    the model, counts and tokens; the journal is removed. `serving` says how a model behind a server is asked. Raise as
    `open_model` does.
    """
    quiet_libraries()
    started = time.monotonic()
    sampling = Sampling(max_tokens=max_tokens, logprobs=False)
    opened = open_model(model, engine=engine, serving=serving, probe=lambda _: (SHORT, sampling))
    journal = journal_of(to)
    entries: list[transcript.Entry] = []

    def asked(flow: Callable[[ItemT], Flow[R]], items: Sequence[ItemT], what: str) -> list[R]:
        say(f"{source}: {len(items)} to ask about, with one request each or more")
        put = partial(ask, opened.backend, sampling, Journal(journal), progress=Progress(what, None))
        results, new = transcript.record(flow, items, put)
        entries.extend(new)
        return results

    yield asked
    written = to.with_name(f"{to.name}.transcript.jsonl")
    transcript.write(written, entries)
    write_manifest(
        to.with_name(f"{to.name}.manifest.json"),
        inputs=[source],
        outputs=[to, written],
        settings={"model": opened.described, "max_tokens": max_tokens},
        seconds=time.monotonic() - started,
        identity=opened.backend.identity,
        engine=opened.backend.settings,
        **totals(transcript.answers(entries)),
    )
    journal.unlink(missing_ok=True)
