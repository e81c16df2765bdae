"""What models read off passages: stated answers, entailment, likelihoods, before and after training, with raw margins.

    python -m bench.grounded train --model FOLDER --rows train.jsonl --to ADAPTER [--without blend] [--seed 1]
    python -m bench.grounded ask --model FOLDER [--adapter ADAPTER] --rows test.jsonl --to answers.jsonl

`ask` writes a line for each row and kind of passages with everything that comparators need, so that thresholds and
intervals are computed afterwards (`python -m bench.grounded_numbers`). Rows are those of `bench.grounded_rows`, or
those that `set` writes of the qualification set. Training here is a plain loop on one device, for a card that is lent
for minutes; the workflow trains with its own stages.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bench.taught_training import passes
from excam.error_reports import stated as stating
from excam.error_reports.comparators import agreement, entailment
from excam.error_reports.judges import likelihood
from excam.error_reports.yes_no import ANSWERS, numbered
from excam.inference import Answer, Choice, Choose, Completion, Flow, Generate, Message, Request, Sampling
from excam.inference.journal import InMemory
from excam.inference.run import run

KINDS = ("qa", "statement", "prose", "absent", "false", "contradicting")
ALONE = {"say": likelihood.NO_QUESTION, "empty": "?", "nothing": "Answer in a few words."}  # without the question
TOKENS = 96_000  # padded tokens of a pass without gradient
BATCH = 256  # rows between two writes
BATCH_TOKENS = 160_000  # rows x (longest prompt + answer) that are generated at once, on a card


@dataclass(frozen=True, slots=True)
class Task:
    """A row with one kind of passages."""

    id: str
    row: Mapping[str, Any]
    kind: str
    passages: tuple[str, ...]
    unrelated: str


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    ask = commands.add_parser("ask")
    ask.add_argument("--adapter", type=Path)
    ask.add_argument("--kinds", nargs="+", default=[*KINDS, "none"])
    ask.add_argument("--options", action="store_true", help="likelihoods of the options, too")
    ask.add_argument("--limit", type=int)
    ask.add_argument("--every", type=int, default=1, help="every n-th base sample only")
    ask.add_argument("--shard", default="0/1", help="of the rows, such as 2/4")
    ask.add_argument("--wordings", action="store_true", help="other wordings of the question of yes or no, too")
    ask.set_defaults(command=ask_rows)
    train = commands.add_parser("train")
    train.add_argument("--without", default="", help="a dataset whose rows are left out")
    train.add_argument("--seed", type=int, default=1)
    train.add_argument("--epochs", type=int, default=2)
    train.add_argument("--rate", type=float, default=5e-4)
    train.add_argument("--step", type=int, default=16, help="rows of a step")
    train.add_argument("--kinds", nargs="+", default=[*SHARES], help="of passages, such as absent_qa, too")
    train.add_argument("--tasks", nargs="+", default=["state", "entail"])
    train.add_argument("--steps", type=int, help="at most so many steps")
    train.add_argument("--pass-tokens", type=int, default=6000, help="padded tokens of a forward and backward pass")
    train.set_defaults(command=train_adapter)
    of_set = commands.add_parser("set")
    of_set.set_defaults(command=write_set)
    for command in (ask, train):
        command.add_argument("--model", type=Path, required=True)
        command.add_argument("--rows", type=Path, required=True)
    for command in (ask, train, of_set):
        command.add_argument("--to", type=Path, required=True)
    args = parser.parse_args(argv)
    args.command(args)


def read_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def as_text(passage: Any) -> str:
    """Return "title: text" of a passage."""
    if isinstance(passage, str):
        return passage
    title = passage.get("title", "")
    return f"{title}: {passage['text']}" if title else passage["text"]


# Asking


def tasks_of_rows(rows: Sequence[Mapping[str, Any]], kinds: Sequence[str]) -> Iterator[Task]:
    for row in rows:
        for kind in kinds:
            listed = tuple(map(as_text, row[kind])) if kind != "none" else ()
            unrelated = as_text(row["unrelated"][0]) if listed else ""
            question = row["paraphrase"] if kind == "prose" else row["question"]
            yield Task(f"{row['id']}|{kind}", {**row, "question": question}, kind, listed, unrelated)


def write_set(args: argparse.Namespace) -> None:
    """Write the rows of the qualification set, with the passages that a search finds and with the right document."""
    from excam.error_reports.qualification import question_set

    pack = question_set.pack()
    by_id = {passage.document: passage for passage in pack.passages}
    with args.to.open("w", encoding="utf-8") as stream:
        for row in question_set.questions():
            passages = pack.passages_for(row.question, row.text)
            line = {
                **{name: getattr(row, name) for name in ("id", "language", "label", "question", "text")},
                "base": row.pair,
                "dataset": row.language,
                "paraphrase": row.question,
                "answer": row.expected,
                "options": [],
                "gold_span": row.wrong_words,
                "document": [{"title": by_id[row.document].title, "text": by_id[row.document].text, "states": "fact"}],
                "retrieved": [
                    {
                        "title": passage.title,
                        "text": passage.text,
                        "states": "fact" if passage.document == row.document else "",
                    }
                    for passage in passages
                ],
                "unrelated": [{"text": pack.unrelated(row.question)}],
            }
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")


# other wordings of `entailment.ASKED`, tried on dev rows
WORDINGS = {
    "plain": (
        "{passages}\n\nQuestion: {question}\nAnswer: {text}\n\nIs this answer correct according to the passages? "
        "Answer yes or no.",
        ("yes", "no"),
    ),
    "capital": (
        "{passages}\n\nQuestion: {question}\nAnswer: {text}\n\nIs this answer correct according to the passages? "
        "Answer Yes or No.",
        ("Yes", "No"),
    ),
    "claim": (
        "{passages}\n\nClaim: to the question “{question}”, the answer is “{text}”.\n\nDo the passages support the "
        "claim? Answer Yes or No.",
        ("Yes", "No"),
    ),
    "letters": (
        "{passages}\n\nQuestion: {question}\nAnswer: {text}\n\nWhat do the passages say of the answer?\n"
        "A. It is right.\nB. It is wrong.\nC. They do not say it.\nAnswer with the letter.",
        ("A", "B", "C"),
    ),
    "says": (
        "{passages}\n\nQuestion: {question}\n\nDo the passages say the answer to the question? Answer Yes or No.",
        ("Yes", "No"),
    ),
}


def worded(name: str, task: Task, passages: Sequence[str]) -> Choose:
    """Return the question of yes or no in another wording."""
    prompt, answers = WORDINGS[name]
    listed = "\n".join(f"Passage {number}: {passage}" for number, passage in enumerate(passages, 1))
    filled = prompt.format(passages=listed, question=task.row["question"], text=task.row["text"])
    return Choose((Message("user", filled),), answers)


def flow(task: Task, options: bool, wordings: bool) -> Flow[dict[str, Any]]:
    """Ask everything about one row."""
    row, question, text = task.row, task.row["question"], task.row["text"]
    asked: dict[str, Request] = {"stated": Generate(stating.state_messages(question, task.passages))}
    if task.passages:
        for name, passages in (("entail", task.passages), ("unrelated", (task.unrelated,))):
            asked[name] = Choose(entailment.entail_messages(question, text, passages), ANSWERS)
        if wordings:
            for name in WORDINGS:
                asked[f"w-{name}"] = worded(name, task, task.passages)
                asked[f"u-{name}"] = worded(name, task, (task.unrelated,))
    answers = dict(zip(asked, (yield list(asked.values())), strict=True))
    stated = answers["stated"]
    assert isinstance(stated, Completion)
    measured: dict[str, Any] = {"said": stated.text, "finish": stated.finish}
    measured |= {name: margin(answers[name]) for name in asked if name != "stated"}
    measured |= {f"{name}-all": logprobs(answers[name]) for name in asked if name.endswith("letters")}
    said = stating.read_stated(stated.text, len(task.passages))
    measured |= {"stated": said.answer, "cites": said.cites}
    if said.answer:
        same = yield [
            Choose(agreement.messages(question, said.answer, text), ANSWERS),
            Choose(agreement.messages(question, said.answer, said.answer), ANSWERS),
        ]
        measured |= {"agree": margin(same[0]), "agree_same": margin(same[1])}
    if options:
        compared = tuple(row["options"] or [text])
        prompts = {"bare": question, "few": likelihood.PROPOSE.format(question=question)} | ALONE
        if task.kind != "none":
            prompts = {"bare": f"{numbered(task.passages)}\n\n{question}"}
        choices = yield [Choose((Message("user", prompt),), compared) for prompt in prompts.values()]
        measured["likelihoods"] = {name: logprobs(choice) for name, choice in zip(prompts, choices, strict=True)}
        first = choices[0]
        assert isinstance(first, Choice)
        measured["tokens"] = first.tokens
        if task.kind == "none":
            proposal = yield [Generate(likelihood.asked(likelihood.PROPOSE.format(question=question)))]
            assert isinstance(proposal[0], Completion)
            said_first = (proposal[0].text.strip().splitlines() or [""])[0] or "?"
            measured["proposal"] = said_first
            pair = yield [Choose((Message("user", prompt),), (text, said_first)) for prompt in prompts.values()]
            measured["against"] = {name: logprobs(choice) for name, choice in zip(prompts, pair, strict=True)}
            last = pair[0]
            assert isinstance(last, Choice)
            measured["against_tokens"] = last.tokens
    return measured


def margin(answer: Answer) -> float | None:
    assert isinstance(answer, Choice)
    return None if answer.logprobs is None else answer.logprobs[0] - answer.logprobs[1]


def logprobs(answer: Answer) -> Sequence[float] | None:
    assert isinstance(answer, Choice)
    return answer.logprobs


class Batched:
    """A backend whose likelihoods of single tokens are computed for many prompts in one pass, for a card."""

    def __init__(self, backend: Any) -> None:
        self.inner, self.identity = backend, backend.identity
        self.generate = backend.generate

    def choose(self, requests: Sequence[Choose]) -> Iterator[list[tuple[int, Choice]]]:
        import torch

        inner = self.inner
        coded = [[inner._encode(request.messages, option) for option in request.options] for request in requests]
        short = [
            all(len(encoded.input_ids) - encoded.completion_start == 2 for encoded in options) for options in coded
        ]
        rest = [at for at, is_short in enumerate(short) if not is_short]
        for batch in inner.choose([requests[at] for at in rest]):
            yield [(rest[at], choice) for at, choice in batch]
        order = sorted(
            (at for at, is_short in enumerate(short) if is_short), key=lambda at: len(coded[at][0].input_ids)
        )
        while order:
            longest = len(coded[order[-1]][0].input_ids)
            part, order = order[-max(1, TOKENS // longest) :], order[: -max(1, TOKENS // longest)]
            prompts = [list(coded[at][0].input_ids[: coded[at][0].completion_start]) for at in part]
            ids, mask = inner._padded(prompts)
            with torch.inference_mode():
                places = (mask.cumsum(-1) - 1).clamp(min=0)
                read = {"input_ids": ids, "attention_mask": mask, "position_ids": places}
                last = inner.model(**read, use_cache=False, logits_to_keep=1).logits[:, -1].float().log_softmax(-1)
            for row, at in enumerate(part):
                tokens = [encoded.input_ids[encoded.completion_start] for encoded in coded[at]]
                values = tuple(float(last[row, token]) for token in tokens)
                yield [(at, Choice(values, (1,) * len(values), len(prompts[row])))]


def in_float32(head: Any) -> Any:
    """Return an output layer that computes in float32: logits in bfloat16 have steps of an eighth of a nat."""
    import torch

    class Head(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(head.weight.detach().float(), requires_grad=False)

        def forward(self, hidden: Any) -> Any:
            return torch.nn.functional.linear(hidden.float(), self.weight)

    return Head()


def loaded(model: Path, adapter: Path | None) -> Any:
    """Return a backend for a card or the CPU, of the share `CARD_SHARE` of the card's memory."""
    import torch

    from excam.inference.backends.transformers import Backend

    batch_tokens = BATCH_TOKENS if torch.cuda.is_available() else None
    backend = Backend(model, adapter, serve="merged", identity="bench", batch_tokens=batch_tokens)
    backend.model.set_output_embeddings(in_float32(backend.model.get_output_embeddings()))
    if torch.cuda.is_available():
        torch.cuda.set_per_process_memory_fraction(float(os.environ.get("CARD_SHARE", "1")))
    return Batched(backend)


def ask_rows(args: argparse.Namespace) -> None:
    from excam.inference.journal import ask

    rows = read_rows(args.rows)
    bases = sorted({row["base"] for row in rows})[:: args.every]
    chosen_tasks = list(tasks_of_rows([row for row in rows if row["base"] in set(bases)], args.kinds))
    shard, shards = map(int, args.shard.split("/"))
    chosen_tasks = chosen_tasks[shard::shards]
    done = {row["id"] for row in read_rows(args.to)} if args.to.exists() else set[str]()
    tasks = [task for task in chosen_tasks if task.id not in done][: args.limit]
    asked = loaded(args.model, args.adapter)
    sampling = Sampling(max_tokens=40, logprobs=False)
    started = time.monotonic()
    args.to.parent.mkdir(parents=True, exist_ok=True)
    for at in range(0, len(tasks), BATCH):
        part = tasks[at : at + BATCH]
        answers = run(
            partial(flow, options=args.options, wordings=args.wordings),
            part,
            partial(ask, asked, sampling, InMemory()),
        )
        with args.to.open("a", encoding="utf-8") as stream:
            for task, answer in zip(part, answers, strict=True):
                kept = {name: task.row.get(name) for name in ("base", "dataset", "label", "answer", "text", "options")}
                stream.write(
                    json.dumps({"id": task.id, "kind": task.kind, **kept, **answer}, ensure_ascii=False) + "\n"
                )
        print(f"{args.to.name}: {at + len(part)} of {len(tasks)}, {time.monotonic() - started:.0f} s", flush=True)


# Training


SHARES = {"qa": 0.2, "statement": 0.2, "prose": 0.4, "absent": 0.2}  # of kinds of passages, in training


def examples(
    rows: Sequence[Mapping[str, Any]], seed: int, kinds: Sequence[str], tasks: Sequence[str]
) -> list[tuple[tuple[Message, ...], str]]:
    """Return prompts and targets: what the passages say the answer is, and whether they make the text right.

    Of each row one kind of passages, drawn by its share: the fact among near misses, in question-and-answer form, as
    statements or in prose; the fact nowhere. The right passage is cited by its number.
    """
    chance = random.Random(f"examples/{seed}")
    made: list[tuple[tuple[Message, ...], str]] = []
    for row in rows:
        kind = chance.choices(kinds, [SHARES[name.removesuffix("_qa")] for name in kinds])[0]
        question = row["paraphrase"] if chance.random() < 0.5 else row["question"]
        listed = [as_text(passage) for passage in row[kind]]
        cites = [at for at, passage in enumerate(row[kind], 1) if passage["states"] == "fact"]
        if "state" in tasks:
            answer = row["answer"] if cites else ""
            made.append((stating.state_messages(question, listed), stating.target(answer, cites[:1])))
        if "entail" in tasks:
            says = "Yes" if row["label"] == "right" and cites else "No"
            made.append((entailment.entail_messages(question, row["text"], listed), says))
    chance.shuffle(made)
    return made


def backward(model: Any, rows: Sequence[Any], supervised: int, device: str) -> float:
    """Add the gradient of the rows' part of the mean loss over the supervised tokens of a step; return that part."""
    import torch

    longest = max(len(row.input_ids) for row in rows)
    ids = torch.zeros((len(rows), longest), dtype=torch.long)
    labels = torch.full((len(rows), longest), -100)
    mask = torch.zeros((len(rows), longest), dtype=torch.long)
    for at, row in enumerate(rows):
        count = len(row.input_ids)
        ids[at, :count] = torch.tensor(row.input_ids)
        mask[at, :count] = 1
        labels[at, row.completion_start : count] = torch.tensor(row.input_ids[row.completion_start :])
    read = {"input_ids": ids.to(device), "attention_mask": mask.to(device)}
    hidden = model.get_base_model().model(**read, use_cache=False).last_hidden_state
    wanted = labels[:, 1:].to(device)
    chosen = wanted != -100
    logits = model.get_base_model().lm_head(hidden[:, :-1][chosen]).float()
    loss = torch.nn.functional.cross_entropy(logits, wanted[chosen], reduction="sum") / supervised
    loss.backward()
    return float(loss.detach())


def train_adapter(args: argparse.Namespace) -> None:
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    from excam.inference import chat

    if (args.to / "adapter_model.safetensors").exists():
        return
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda":
        torch.cuda.set_per_process_memory_fraction(float(os.environ.get("CARD_SHARE", "1")))
    torch.manual_seed(args.seed)
    tokenizer = chat.load_tokenizer(args.model)
    rows = [row for row in read_rows(args.rows) if row["dataset"] != args.without]
    base = AutoModelForCausalLM.from_pretrained(
        args.model,
        dtype=torch.bfloat16,
        local_files_only=True,
        attn_implementation="eager",  # "sdpa" of PyTorch 2.11 gave Qwen2 on padded rows a loss of NaN on an H100
    )
    base = getattr(base, "to")(device)  # noqa: B009  # its stub takes no name
    settings = LoraConfig(r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM")
    model: Any = get_peft_model(base, settings)
    model.train()
    optimizer = torch.optim.AdamW(
        [parameter for parameter in model.parameters() if parameter.requires_grad], lr=args.rate
    )
    drawn = partial(examples, rows, kinds=args.kinds, tasks=args.tasks)
    steps: list[list[chat.Encoded]] = []
    for epoch in range(args.epochs):
        coded = [chat.encode(tokenizer, asked, said) for asked, said in drawn(seed=args.seed * 100 + epoch)]
        steps += [coded[at : at + args.step] for at in range(0, len(coded) - args.step + 1, args.step)]
    steps = steps[: args.steps]
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda at: min(1.0, (at + 1) / 20) * max(0.05, 1 - at / len(steps))
    )
    started = time.monotonic()
    for number, step in enumerate(steps, 1):
        supervised = sum(len(row.input_ids) - row.completion_start for row in step)
        loss = 0.0
        by_length = sorted(step, key=lambda row: len(row.input_ids))
        for part in passes(by_length, lambda row: len(row.input_ids), args.pass_tokens):
            loss += backward(model, part, supervised, device)
        if not math.isfinite(loss):
            raise SystemExit(f"{args.to}: loss {loss} in step {number} of {len(steps)}; no adapter was written")
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        if number % 25 == 0 or number == len(steps):
            print(
                f"{args.to.name}: {number} of {len(steps)}, loss {loss:.3f}, {time.monotonic() - started:.0f} s",
                flush=True,
            )
    model.save_pretrained(args.to, safe_serialization=True)


if __name__ == "__main__":
    main()
