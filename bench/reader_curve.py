"""Whether a small model learns to read: areas under the curve by how many paragraphs it was trained on.

    python -m bench.reader_curve --reading FOLDER --data FOLDER --models minilm=FOLDER --numbers FOLDER --to FILE

What a model says of a row are a few numbers. An encoder, of question and passages apart: how near the question is to
the words where the answer stands, against all words, and to that sentence, against other sentences. A model that
writes: how much likelier the question makes the answer. With `--tuned` an encoder is trained to set the right answer
above a wrong one of the same question, on English paragraphs of which a quarter is kept for the weights. A logistic
regression weighs these numbers, alone and beside the fair floors.

Fit rows are every second paragraph of XQuAD (the same in all languages), every second claim of WiCE, and dev rows of
hard prose; a seed draws a share of them, and the order of training. The others are measured as in `bench.reading`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import normalize, softplus
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
PASSES, RATE, TRAINED = 2, 3e-5, 0.75  # of training: share of the groups, the others are for the weights
LONGEST = 320  # tokens of a passage
FEW, PENALTY = 4, 300.0  # numbers of a model before its states; the penalty of a state, that of a number is 1
FLOOR = "question where the answer stands"
BOTH = "both floors, weighed"
LEAST = -25.0  # the number of a text that stands nowhere
Numbers = Mapping[str, NDArray[np.float64]]  # of the id of a row


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


class Encoder(torch.nn.Module):
    """An encoder that reads questions and passages apart."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModel.from_pretrained(folder, add_pooling_layer=False, attn_implementation="eager")
        self.model.embeddings.requires_grad_(False)
        self.sharpness = torch.nn.Parameter(torch.tensor([5.0, 15.0]))  # of words and of sentences

    def states(self, texts: Sequence[str]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return states of length 1 (texts, tokens, width), their mean, and the characters of each token."""
        options = {"padding": True, "truncation": True, "max_length": LONGEST, "return_offsets_mapping": True}
        batch = self.tokenizer(list(texts), return_tensors="pt", **options)
        places, known = batch.pop("offset_mapping"), batch["attention_mask"][:, :, None]
        states = self.model(**batch).last_hidden_state
        return normalize(states, dim=2), normalize((states * known).sum(1) / known.sum(1), dim=1), places

    def forward(self, rows: Sequence[Row]) -> torch.Tensor:
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
        near = self.sharpness[1] * vectors @ self.states([passages[at][a:b] for at, a, b in pieces])[1].T
        by_word = self.sharpness[0] * vectors @ states.flatten(0, 1).T + near[:, sentence.flatten()]
        logs = by_word.masked_fill(sentence.flatten() < 0, -1e4).log_softmax(1).unflatten(1, starts.shape)
        numbers = []
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


class Writer(torch.nn.Module):
    """A causal model: how much likelier the question makes an answer, or passages a claim."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16)

    def forward(self, rows: Sequence[Row]) -> torch.Tensor:
        """Return of each row how much likelier: all, its first token, the least likely; the mean; its last state."""
        passages, parts = "\n".join(rows[0].passages), [(row.question, f" {row.text}") for row in rows]
        own = [(f"\n\nQuestion: {question}\nAnswer:" if question else "\n\nClaim:", text) for question, text in parts]
        plain = [("\n\nQuestion: What?\nAnswer:" if question else "\n\nClaim:", text) for question, text in parts]
        if rows[0].question:
            read = self.read(passages, [*own, *plain])
        else:
            read = [*self.read(passages, own), *self.read("\n", plain)]
        numbers = []
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


def tune(model: Encoder, chosen: Sequence[Sequence[Row]], seed: int) -> None:
    """Train to set right answers above wrong ones of the same question."""
    generator = np.random.default_rng(seed)
    optimizer = torch.optim.AdamW((each for each in model.parameters() if each.requires_grad), lr=RATE)
    model.train()
    for rows in (chosen[at] for _ in range(PASSES) for at in generator.permutation(len(chosen))):
        pairs = [(a, b) for a, right in enumerate(rows) for b, wrong in enumerate(rows)
                 if right.right and not wrong.right and asked(right) == asked(wrong)]  # fmt: skip
        above, below = ([pair[side] for pair in pairs] for side in (0, 1))
        said = model(rows)
        loss = softplus(said[below] - said[above]).mean() - said[above][:, 0].mean() / 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def numbers_of(
    stem: Path, folder: Path, by_set: Mapping[str, Sequence[Row]], train: Sequence[Row], seed: int
) -> Numbers:
    """Return what a model says of rows, trained on some if there are any; from files where it was asked before."""
    files = {name: stem.with_name(f"{stem.name}-{name}.json") for name in by_set}
    if missing := [name for name, file in files.items() if not file.exists()]:
        torch.manual_seed(seed)
        model = Encoder(folder) if is_encoder(folder) else Writer(folder)
        if train and isinstance(model, Encoder):
            tune(model, units(train), seed)
        model.eval()
        for name in missing:
            with torch.no_grad():
                said = {row.id: own for unit in units(shown(by_set[name]))
                        for row, own in zip(unit, model(unit).tolist(), strict=True)}  # fmt: skip
            files[name].write_text(json.dumps(said), encoding="utf-8")
            print(f"{stem.name}, {name}: {time.process_time():.0f} seconds", file=sys.stderr, flush=True)
    read = [json.loads(file.read_text(encoding="utf-8")) for file in files.values()]
    return {id: np.array(numbers) for own in read for id, numbers in own.items()}


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


def heights_of(row: Row) -> NDArray[np.float64]:
    """Return how high a row stands by each floor."""
    return np.array([of(row.question, row.text, row.passages, row.language) for of in floors.FLOORS.values()])


def weighed(
    numbers: Numbers, penalties: NDArray[np.float64], fit: Sequence[Row], rows: Sequence[Row]
) -> list[reading.Judged]:
    """Return scores by a logistic regression on fit rows; `rows` are all questions or all claims."""
    own = [row for row in fit if bool(row.question) == bool(rows[0].question)]
    table, right = np.stack([numbers[row.id] for row in own]), np.array([float(bool(row.right)) for row in own])
    middle, spread = table.mean(0), table.std(0) + 1e-9
    table = np.c_[(table - middle) / spread, np.ones(len(own))]
    weights, penalty = np.zeros(table.shape[1]), np.diag([*penalties, 1e-9])
    for _ in range(12):
        likely = 1 / (1 + np.exp(-table @ weights))
        slope = table.T @ (likely - right) + penalty @ weights
        weights -= np.linalg.solve((table * (likely * (1 - likely))[:, None]).T @ table + penalty, slope)
    return [reading.Judged(float(np.append((numbers[row.id] - middle) / spread, 1) @ weights)) for row in rows]


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reading", type=Path, required=True, help="folder of XQuAD and WiCE")
    parser.add_argument("--data", type=Path, help="folder with a folder for each benchmark")
    parser.add_argument("--models", nargs="+", required=True, help="NAME=FOLDER; weighed together, too")
    parser.add_argument("--sets", nargs="+", help="of these names only")
    parser.add_argument("--tuned", action="store_true", help="train encoders on English XQuAD")
    parser.add_argument("--shares", type=float, nargs="+", default=[0.25, 0.5, 1.0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument(
        "--limit", type=int, help="about so many rows of a set, of other languages twice, of English all"
    )
    parser.add_argument("--numbers", type=Path, required=True, help="folder for what models say")
    parser.add_argument("--to", type=Path, required=True)
    args = parser.parse_args(argv)
    torch.set_num_threads(1)
    by_set = {name: rows for name, rows in rows_of(args.reading, args.data, args.limit).items()
              if not args.sets or name in args.sets}  # fmt: skip
    heights = {row.id: heights_of(row) for rows in by_set.values() for row in rows}
    args.numbers.mkdir(parents=True, exist_ok=True)
    called = " ".join(argv if argv is not None else sys.argv[1:])
    lines: list[dict[str, Any]] = []
    for share, seed in ((share, seed) for share in args.shares for seed in args.seeds):
        if share == 1 and seed > args.seeds[0] and not args.tuned:
            continue  # the same rows
        fit = part([row for rows in by_set.values() for row in rows if row.fit], share, seed)
        train = (
            [row for row in part(fit, TRAINED, seed) if row.part == "English" and row.question] if args.tuned else []
        )
        trained = {row.id for row in train}
        said: dict[str, Numbers] = {}
        for name, folder in (model.split("=", 1) for model in args.models):
            stem = args.numbers / (f"{name}, tuned-{share}-{seed}" if args.tuned else name)
            said[f"{name}{', tuned' * args.tuned}"] = numbers_of(stem, Path(folder), by_set, train, seed)
        readers = readers_of(said, heights)
        for name, rows in by_set.items():
            test = [row for row in rows if not row.fit]
            floor = reading.Answers(test, [reading.Judged(float(heights[row.id][1])) for row in test], fitted=True)
            answers = {FLOOR: floor}
            for reader, (own, penalties) in readers.items():
                judged = weighed(own, penalties, [row for row in fit if row.id not in trained], test)
                answers[reader] = reading.Answers(test, judged, fitted=True)
            lines += [
                line | {"set": name, "share": share, "rows": len(fit), "seed": seed} for line in measured(answers)
            ]
        known = [line | {"command": called, "commit_or_date": reading.commit()} for line in lines]
        tables.write_lines(
            args.to, COLUMNS, ({key: reading.rounded(value) for key, value in line.items()} for line in known)
        )


def readers_of(said: Mapping[str, Numbers], heights: Numbers) -> dict[str, tuple[Numbers, NDArray[np.float64]]]:
    """Return numbers and penalties of the floors, of each model and of all models, without and with the floors."""
    parts = {
        name: (own, np.where(np.arange(len(next(iter(own.values())))) < FEW, 1, PENALTY)) for name, own in said.items()
    }
    if len(parts) > 1:
        parts[" and ".join(parts)] = _joined(list(parts.values()))
    low = heights, np.ones(len(floors.FLOORS))
    return {BOTH: low} | parts | {f"{name} and floors": _joined([own, low]) for name, own in parts.items()}


def _joined(each: Sequence[tuple[Numbers, NDArray[np.float64]]]) -> tuple[Numbers, NDArray[np.float64]]:
    ids = each[0][0].keys()
    return {id: np.concatenate([numbers[id] for numbers, _ in each]) for id in ids}, np.concatenate(
        [own for _, own in each]
    )


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
