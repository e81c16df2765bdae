"""Ask a model in a command: what it answered is kept in a journal until the command's file is written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from excam.core.provenance import Progress, quiet_libraries
from excam.inference import Ask, Generate, Message, Sampling
from excam.inference.journal import Journal, ask
from excam.scoring.files import journal_of
from excam.scoring.models import open_model
from excam.scoring.server_options import Serving

SHORT = Generate((Message("system", "Answer briefly."), Message("user", "Answer with {}")))


@contextmanager
def kept_answers(
    model: str, engine: str | None, serving: Serving, max_tokens: int, to: Path, what: str
) -> Iterator[Ask]:
    """Open a model and yield the function that asks it, for the flows of `excam.inference.run`.

    Answers are kept in a journal beside `to`, which is removed at the end of the block, where `to` is written: a killed
    command continues. `serving` says how a model behind a server is asked, `what` is the first part of the progress
    lines. Raise as `open_model` does.
    """
    quiet_libraries()
    sampling, progress = Sampling(max_tokens=max_tokens, logprobs=False), Progress(what, None)
    opened = open_model(model, engine=engine, serving=serving, probe=lambda _: (SHORT, sampling))
    kept = journal_of(to)
    yield partial(ask, opened.backend, sampling, Journal(kept), progress=progress)
    kept.unlink(missing_ok=True)
