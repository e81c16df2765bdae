"""The options --budget and --price of `excam score`: checked, and an estimate before the first request."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path

import yaml

from excam import config
from excam.config import Model, Price
from excam.core import yaml_text
from excam.core.exceptions import ConfigInvalid, InputInvalid
from excam.inference import Request
from excam.inference.budget import Budget, prompt_bytes
from excam.inference.journal import Journal
from excam.scoring.files import journal_of
from excam.scoring.metric import Row
from excam.scoring.models import EXAMPLE, Address
from excam.scoring.result_files import part_of

CONFIG = Path("config.yaml")
BYTES_PER_TOKEN = 4  # of English text, for the estimate; the server counts its tokens
SAMPLE = 500  # rows of a file, evenly, whose prompts are measured for the estimate


def checked(limit: float | None, price: tuple[float, float] | None, models: Sequence[Address]) -> Budget | None:
    """Return the budget of the options; None without --budget.

    Without --price, the price is that of the entry of `models` in ./config.yaml with this server. Raises InputInvalid
    for a value that is no budget or no price, a model of this machine, or several models.
    """
    if limit is None and price is None:
        return None
    option = "--budget" if limit is not None else "--price"
    if len(models) != 1 or not models[0].endpoint:
        described = models[0] if len(models) == 1 else f"{len(models)} models"
        raise InputInvalid(f"{option}: found {described}; expected one model behind a server, {EXAMPLE}; leave it out")
    if limit is None:
        raise InputInvalid("--price: found without --budget; expected both; give --budget too")
    if not (limit > 0 and math.isfinite(limit)):
        raise InputInvalid(f"--budget: found {limit:g}; expected more than 0, in the currency of the price")
    return Budget(limit, _price(*price) if price else _price_of_entry(models[0].name, models[0].endpoint))


def _price(prompt: float, completion: float) -> Price:
    if not (min(prompt, completion) >= 0 and 0 < max(prompt, completion) < math.inf):
        raise InputInvalid(
            f"--price: found {prompt:g} {completion:g}; expected the prices of a million tokens of prompts and of "
            "answers, such as 1.25 10"
        )
    return Price(prompt=prompt, completion=completion)


def _price_of_entry(name: str, endpoint: str) -> Price:
    """Return the price of the entry in ./config.yaml for a model behind a server. Raises InputInvalid if none."""
    next_step = "give --price IN OUT, per million tokens of prompts and of answers"
    try:
        raw = yaml_text.load(CONFIG.read_text(encoding="utf-8")) if CONFIG.is_file() else None
        entries = config.load(raw, str(CONFIG)).models if raw is not None else {}
    except (OSError, ValueError, yaml.YAMLError, ConfigInvalid) as problem:
        line = " ".join(str(problem).split())[:160]
        raise InputInvalid(f"--budget: no price of {name}: {line}; {next_step}") from None
    for key, entry in entries.items():
        if entry.server and entry.server.price and _is_at(key, entry, name, endpoint):
            return entry.server.price
    where = f"no entry of {CONFIG} has this server, name and a price" if CONFIG.is_file() else f"no {CONFIG} here"
    raise InputInvalid(f"--budget: no price of {name}: {where}; {next_step}")


def _is_at(key: str, entry: Model, name: str, endpoint: str) -> bool:
    assert entry.server is not None, "only of models behind a server"
    return (entry.server.name or entry.hub or key) == name and entry.server.endpoint.rstrip("/") == endpoint.rstrip("/")


def rows_left(count: int, to: Path, repeat: int, done: int) -> int:
    """Return how many of `count` rows are still to be asked about, each `repeat` times.

    `done` rows are in the finished file `to`; others may be in its parts and its journal.
    """
    growing = [to.with_name(f"{to.name}.{number + 1}") for number in range(repeat)] if repeat > 1 else [to]
    answers = sum(_lines_in(part_of(file)) + len(Journal(journal_of(file))) for file in growing)
    if done == count or repeat == 1:  # a finished file of several judgements does not grow
        answers = max(answers, done * repeat)
    return max(0, count * repeat - answers)


def estimate(
    budget: Budget,
    rows: Iterable[Row],
    requests: Callable[[Row], Sequence[Request]],
    max_tokens: int,
    count: int,
    repeat: int,
) -> str:
    """Return the estimate of what the rows that are left in the budget will cost, as a line.

    `requests` returns the first requests about a row. Prompts are measured on rows drawn evenly from the `count` of the
    file; each is asked about `repeat` times.

    Args:
        budget: with the price, and the rows that are left
        rows: of the file, of which some are measured
        requests: returns the first requests about a row
        max_tokens: of one answer
        count: number of rows of the file
        repeat: how often each is asked about
    """
    drawn = [requests(row) for row in islice(iter(rows), 0, None, max(1, count // SAMPLE))]
    sizes = [prompt_bytes(request) for row_requests in drawn for request in row_requests]
    prompt = math.ceil(sum(sizes) / max(1, len(drawn)) / BYTES_PER_TOKEN)
    answer = math.ceil(max_tokens * len(sizes) / max(1, len(drawn)))
    least, most = (budget.price.cost(budget.rows * prompt, budget.rows * tokens) for tokens in (0, answer))
    how = f"answers of {max_tokens} tokens"
    if (seen := budget.rows * len(sizes) / max(1, len(drawn)) * budget.dearest) > most:
        most, how = seen, f"requests like the first one, {budget.dearest:.4f}"
    return (
        f"estimate: {budget.rows} of {count * repeat} rows to ask about, with about {prompt} prompt tokens each "
        f"({BYTES_PER_TOKEN} bytes a token): {least:.4f} for prompts, up to {most:.4f} with {how}; "
        f"the budget is {budget.limit:g}"
    )


def _lines_in(file: Path) -> int:
    if not file.is_file():
        return 0
    with file.open("rb") as stream:
        return sum(1 for _ in stream)
