"""Whether a small model learns to read: areas under the curve by how many paragraphs it was trained on.

    python -m bench.reader_curve --reading FOLDER --data FOLDER --models minilm=FOLDER --numbers FOLDER --to FILE

What a model says of a row are a few numbers; it stays as it is. Of an encoder, which reads question and passages
apart: how near the question is to the words where the answer stands, against all words, and to that sentence, against
other sentences. Of a model that writes: how much likelier the question makes the answer, and the last state of the
answer. A logistic regression weighs them, alone and beside the fair floors.

Fit rows are every second paragraph of XQuAD (the same in all languages), every second claim of WiCE, and dev rows of
hard prose; a seed draws a share of their groups. The others are measured, with the intervals of `bench.reading`.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import normalize
from transformers import AutoModel, AutoModelForCausalLM, AutoTokenizer

from bench import reading
from bench.reading_rows import Row, drawn, sets, wice, xquad
from excam.core import tables
from excam.core.hash_order import digest
from excam.error_reports import floors
from excam.error_reports.content_words import content, words
from excam.inference.encoder import is_encoder
from excam.stats import bootstrap
from scripts import run

COLUMNS = ("set", "what", "share", "rows", "seed", "value", "low", "high", "n", "command", "commit_or_date")
SHARES, SEEDS = (0.25, 0.5, 1.0), (1, 2, 3)
SHARPNESS = 5.0, 15.0  # of words and of sentences
LONGEST = 320  # tokens of a passage
FEW, PENALTY = 4, 300.0  # numbers of a model before its states; the penalty of a state, that of a number is 1
FLOOR = "question where the answer stands"
BOTH = "both floors, weighed"
LEAST = -25.0  # the number of a text that stands nowhere
Said = tuple[NDArray[np.float64], NDArray[np.float64]]  # of a row: numbers, and the state of a model that writes
Numbers = Mapping[str, Said]  # of the id of a row


def units(rows: Iterable[Row]) -> list[list[Row]]:
    """Return the rows about the same passages together."""
    by_passages = defaultdict[tuple[str, tuple[str, ...]], list[Row]](list)
    for row in rows:
        by_passages[row.group, row.passages].append(row)
    return list(by_passages.values())


def asked(row: Row) -> str:
    return row.question or row.text


def words_said(row: Row) -> tuple[int, list[tuple[int, int]]]:
    """Return the passage in which a text stands and the characters of its words there, none if in no passage."""
    here, _ = floors.places_of(row.question, row.text, row.passages, row.language)
    if not here:
        return 0, []
    passage, text = row.passages[here.passage], floors.behind_colon(row.text).strip().strip(".")
    start = passage.lower().find(text.lower(), here.piece.start, here.piece.end + len(text))
    if start >= 0:
        return here.passage, [(start, start + len(text))]
    said = {word.key for word in content(text, row.language)}
    known = (word for word in words(passage) if here.piece.start <= word.start < here.piece.end)
    return here.passage, [(word.start, word.end) for word in known if word.key in said]


class Encoder:
    """An encoder that reads questions and passages apart."""

    def __init__(self, folder: Path) -> None:
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModel.from_pretrained(folder, add_pooling_layer=False, attn_implementation="eager")

    def states(self, texts: Sequence[str]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return states of length 1 (texts, tokens, width), their mean, and the characters of each token."""
        options = {"padding": True, "truncation": True, "max_length": LONGEST, "return_offsets_mapping": True}
        batch = self.tokenizer(list(texts), return_tensors="pt", **options)
        places, known = batch.pop("offset_mapping"), batch["attention_mask"][:, :, None]
        states = self.model(**batch).last_hidden_state
        return normalize(states, dim=2), normalize((states * known).sum(1) / known.sum(1), dim=1), places

    def __call__(self, rows: Sequence[Row]) -> torch.Tensor:
        """Return two numbers of each row about the same passages, shape (rows, 2)."""
        passages = rows[0].passages
        pieces = [(at, piece.start, piece.end) for at, text in enumerate(passages)
                  for piece in floors.pieces(text, rows[0].language)]  # fmt: skip
        states, _, places = self.states(passages)
        starts, ends = places.unbind(2)
        sentence = torch.full(starts.shape, -1)
        for number, (at, start, end) in enumerate(pieces):
            sentence[at][(starts[at] >= start) & (starts[at] < end) & (ends[at] > starts[at])] = number
        questions = list(dict.fromkeys(asked(row) for row in rows))
        vectors = self.states(questions)[1][[questions.index(asked(row)) for row in rows]]
        near = SHARPNESS[1] * vectors @ self.states([passages[at][a:b] for at, a, b in pieces])[1].T
        by_word = SHARPNESS[0] * vectors @ states.flatten(0, 1).T + near[:, sentence.flatten()]
        logs = by_word.masked_fill(sentence.flatten() < 0, -1e4).log_softmax(1).unflatten(1, starts.shape)
        numbers: list[torch.Tensor] = []
        for row, own, nearness in zip(rows, logs, near, strict=True):
            passage, ranges = words_said(row)
            said = torch.zeros_like(sentence, dtype=torch.bool)
            for start, end in ranges:
                said[passage] |= (starts[passage] < end) & (ends[passage] > start) & (sentence[passage] >= 0)
            here = torch.isin(torch.arange(len(pieces)), sentence[said])
            elsewhere = nearness[~here].max() if (~here).any() else nearness.new_zeros(())
            both = (own[said].logsumexp(0).clamp(min=LEAST), nearness[here].max() - elsewhere) if said.any() else None
            numbers.append(torch.stack(both) if both else own.new_tensor([LEAST, LEAST]))
        return torch.stack(numbers)


class Writer:
    """A model that writes: how much likelier the question makes an answer."""

    def __init__(self, folder: Path) -> None:
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16)

    def __call__(self, rows: Sequence[Row]) -> torch.Tensor:
        """Return of each row how much likelier: all, its first token, the least likely; the mean; its last state."""
        own = [(f"\n\nQuestion: {asked(row)}\nAnswer:", f" {row.text}") for row in rows]
        read = self.read(
            "\n".join(rows[0].passages), [*own, *(("\n\nQuestion: What?\nAnswer:", text) for _, text in own)]
        )
        numbers: list[torch.Tensor] = []
        for (a, state), (b, _) in zip(read[: len(rows)], read[len(rows) :], strict=True):
            numbers.append(torch.cat([torch.stack([(a - b).sum(), a[0] - b[0], a.min() - b.min(), a.mean()]), state]))
        return torch.stack(numbers)

    def read(self, prefix: str, tails: Sequence[tuple[str, str]]) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Return the logarithms of the probability of each token of each second part, and the state of its last."""
        first = self.tokenizer(prefix, truncation=True, max_length=3 * LONGEST).input_ids
        cache = self.model(input_ids=torch.tensor([first]), use_cache=True, logits_to_keep=1).past_key_values
        cache.batch_repeat_interleave(len(tails))
        both = [[self.tokenizer(part).input_ids for part in tail] for tail in tails]
        width = max(len(asks) + len(says) for asks, says in both)
        ids = torch.tensor([[*asks, *says, *[0] * (width - len(asks) - len(says))] for asks, says in both])
        known = torch.ones(len(tails), len(first) + width, dtype=torch.long)
        states = self.model.model(input_ids=ids, past_key_values=cache, attention_mask=known).last_hidden_state
        made: list[tuple[torch.Tensor, torch.Tensor]] = []
        for state, (asks, says) in zip(states, both, strict=True):
            own = state[len(asks) - 1 : len(asks) + len(says)]
            likely = self.model.lm_head(own[:-1]).float().log_softmax(1)
            made.append((likely.gather(1, torch.tensor(says)[:, None])[:, 0], own[-1].float()))
        return made


def numbers_of(stem: Path, folder: Path, by_set: Mapping[str, Sequence[Row]]) -> Numbers:
    """Return what a model says of rows, from files where it was asked before."""
    files = {name: stem.with_name(f"{stem.name}-{name}.json") for name in by_set}
    if missing := [name for name, file in files.items() if not file.exists()]:
        model = Encoder(folder) if is_encoder(folder) else Writer(folder)
        for name in missing:
            with torch.no_grad():
                read = [(unit, model(unit).tolist()) for unit in units(shown(by_set[name]))]
            said = {row.id: own for unit, each in read for row, own in zip(unit, each, strict=True)}
            files[name].write_text(json.dumps(said), encoding="utf-8")
    known = [json.loads(file.read_text(encoding="utf-8")) for file in files.values()]
    return {id: (np.array(each[:FEW]), np.array(each[FEW:])) for own in known for id, each in own.items()}


def rows_of(folder: Path, data: Path | None, limit: int | None) -> dict[str, list[Row]]:
    """Return the rows of each set; fit rows are to train on."""
    questions, claims = list(xquad(folder)), drawn(list(wice(folder)), limit)
    made = {
        "XQuAD English": [row for row in questions if row.part == "English"],
        "XQuAD other languages": drawn([row for row in questions if row.part != "English"], limit and 2 * limit),
        "WiCE": claims,
    }
    made = {name: [replace(row, fit=is_fit(row)) for row in rows] for name, rows in made.items()}
    return made | ({"hard prose": sets(None, data, limit)["hard"]()} if data else {})


def is_fit(row: Row) -> bool:
    return (int(row.group) // 2 if row.group.isdigit() else int(digest(0, "half", row.group)[:8], 16)) % 2 == 0


def part(rows: Sequence[Row], share: float, seed: int) -> list[Row]:
    """Return the rows of a share of the paragraphs, claims and base samples."""
    kinds = defaultdict[tuple[bool, bool], set[str]](set)
    for row in rows:
        kinds[row.group.isdigit(), bool(row.question)].add(row.group)
    orders = (sorted(own, key=lambda group: digest(seed, str(share), group)) for own in kinds.values())
    kept = {group for order in orders for group in order[: round(share * len(order))]}
    return [row for row in rows if row.group in kept]


def shown(rows: Iterable[Row]) -> list[Row]:
    """Return rows with those of their passages in which one of the texts or questions about them stands."""
    made: list[Row] = []
    for unit in units(rows):
        places = [floors.places_of(row.question, row.text, row.passages, row.language) for row in unit]
        kept = sorted({place.passage for pair in places for place in pair if place} or {0})
        made += [replace(row, passages=tuple(row.passages[at] for at in kept)) for row in unit]
    return made


def heights_of(row: Row) -> Said:
    """Return how high a row stands by each floor."""
    heights = [of(row.question, row.text, row.passages, row.language) for of in floors.FLOORS.values()]
    return np.array(heights), np.zeros(0)


def joined(first: Numbers, *others: Numbers) -> Numbers:
    """Return what several say, of each row together."""
    for more in others:
        first = {id: (np.append(own[0], more[id][0]), np.append(own[1], more[id][1])) for id, own in first.items()}
    return first


def weighed(said: Numbers, fit: Sequence[Row], rows: Sequence[Row]) -> list[reading.Judged]:
    """Return scores by a logistic regression on fit rows; `rows` are all questions or all claims."""
    own = [row for row in fit if bool(row.question) == bool(rows[0].question)]
    table = np.stack([np.concatenate(said[row.id]) for row in own])
    right = np.array([float(bool(row.right)) for row in own])
    middle, spread = table.mean(0), table.std(0) + 1e-9
    table = np.c_[(table - middle) / spread, np.ones(len(own))]
    numbers, states = (len(part) for part in said[own[0].id])
    weights, penalty = np.zeros(table.shape[1]), np.diag([*[1] * numbers, *[PENALTY] * states, 1e-9])
    for _ in range(12):
        likely = 1 / (1 + np.exp(-table @ weights))
        slope = table.T @ (likely - right) + penalty @ weights
        weights -= np.linalg.solve((table * (likely * (1 - likely))[:, None]).T @ table + penalty, slope)
    table = np.stack([np.concatenate(said[row.id]) for row in rows])
    return list(map(reading.Judged, (((table - middle) / spread) @ weights[:-1] + weights[-1]).tolist()))


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reading", type=Path, required=True, help="folder of XQuAD and WiCE")
    parser.add_argument("--data", type=Path, help="folder with a folder for each benchmark")
    parser.add_argument("--models", nargs="+", required=True, help="NAME=FOLDER; weighed together, too")
    parser.add_argument("--sets", nargs="+", help="of these names only")
    parser.add_argument("--limit", type=int, help="about so many rows of a set; of English all, of others twice")
    parser.add_argument("--numbers", type=Path, required=True, help="folder for what models say")
    parser.add_argument("--to", type=Path, required=True)
    args = parser.parse_args(argv)
    torch.set_num_threads(1)
    made = rows_of(args.reading, args.data, args.limit)
    by_set = {name: rows for name, rows in made.items() if not args.sets or name in args.sets}
    args.numbers.mkdir(parents=True, exist_ok=True)
    heights = {row.id: heights_of(row) for rows in by_set.values() for row in rows}
    models = dict(model.split("=", 1) for model in args.models)
    said = {name: numbers_of(args.numbers / name, Path(folder), by_set) for name, folder in models.items()}
    if len(said) > 1:
        said[" and ".join(models)] = joined(*said.values())
    readers = {BOTH: heights} | said
    readers |= {f"{name} and floors": joined(own, heights) for name, own in said.items()}
    origin = {"command": f"python -m bench.reader_curve --limit {args.limit}", "commit_or_date": reading.commit()}
    lines: list[dict[str, Any]] = []
    for share, seed in ((share, seed) for share in SHARES for seed in SEEDS if share < 1 or seed == SEEDS[0]):
        fit = part([row for rows in by_set.values() for row in rows if row.fit], share, seed)
        for name, rows in by_set.items():
            test = [row for row in rows if not row.fit]
            judged = {FLOOR: [reading.Judged(float(heights[row.id][0][1])) for row in test]}
            judged |= {reader: weighed(own, fit, test) for reader, own in readers.items()}
            answers = {judge: reading.Answers(test, own, fitted=True) for judge, own in judged.items()}
            at = {"set": name, "share": share, "rows": len(fit), "seed": seed} | origin
            lines += [{key: reading.rounded(value) for key, value in (line | at).items()} for line in measured(answers)]
        tables.write_lines(args.to, COLUMNS, lines)


def measured(answers: Mapping[str, reading.Answers]) -> Iterator[dict[str, Any]]:
    """Yield area and scaled accuracy of each judge, and each minus that of the floor, paired."""
    floor = answers[FLOOR]
    for judge, own in answers.items():
        groups, hits = [row.group for row in own.rows], reading.hits_of(own)
        yield {"what": f"{judge} | AUC", **reading.auc([own], groups), "n": len(groups)}
        yield {"what": f"{judge} | scaled accuracy", "value": 2 * float(hits.mean()) - 1, "n": len(groups)}
        if judge != FLOOR:
            yield {"what": f"{judge} | AUC, minus {FLOOR}", **reading.auc([own, floor], groups), "n": len(groups)}
            apart = bootstrap.mean(2 * (hits - reading.hits_of(floor)), groups, 0)
            yield {"what": f"{judge} | scaled accuracy, minus {FLOOR}", **apart, "n": len(groups)}


if __name__ == "__main__":
    run(main)
