"""Answer and judge CaLMQA's questions: the steps of its score, its table and its regression."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from excam.calmqa import asks, numbers, pages, printed, ratings, rows_page, source, stages
from excam.calmqa.source import Answer
from excam.core import tables
from excam.core.provenance import say, write_text
from excam.inference import transcript
from excam.inference.encoder import cosines
from excam.knowledge import index as packs
from excam.knowledge.index import build
from excam.pages import claims
from scripts import step
from scripts.asking import RecordedOptions, Recorder


@dataclass(frozen=True, kw_only=True)
class StageFiles:
    """The tables that a stage may be made of."""

    questions_path: Path
    answers_path: Path
    translations_path: Annotated[Path | None, "without them, answers are judged in their own language"] = None
    claims_path: Path | None = None
    evidence_path: Path | None = None


def texts(files: StageFiles) -> list[stages.Read]:
    """Return the text of each answer that is judged."""
    return stages.texts(
        source.questions_of(files.questions_path), source.answers_of(files.answers_path), files.translations_path
    )


def items(files: StageFiles, step: stages.Step) -> Sequence[Any]:
    """Return what a model is asked about in a step."""
    questions = source.questions_of(files.questions_path)
    if step == "translations":
        return stages.to_translate(questions, source.answers_of(files.answers_path))
    if step == "claims":
        return stages.to_extract(texts(files))
    if step == "verdicts":
        assert files.claims_path, "--claims"
        assert files.evidence_path, "--evidence"
        return stages.to_verify(stages.read_claims(files.claims_path), files.evidence_path)
    return stages.to_rate(questions, texts(files), files.translations_path is not None)


@step(version=1)
def calmqa_questions(files_paths: Sequence[Path], questions_path: Path) -> None:
    """Read the questions of a folder in the official columns."""
    questions = source.read_questions(files_paths)
    tables.write_frame(questions_path, source.to_frame(questions, source.Question))
    counts = Counter(f"{question.language} {question.type}" for question in questions)
    say(f"calmqa: {len(questions)} questions: {', '.join(f'{name} {n}' for name, n in sorted(counts.items()))}")


@step(version=7)
def calmqa_rows(
    questions_path: Path,
    answers_path: Path,
    surface_path: Path,
    claims_path: Path,
    verdicts_path: Path,
    scores_path: Path,
    page_path: Path,
) -> None:
    """Write every answer with the parts of its score, its claims and their verdicts on one page."""
    surface, verdicts, scores = (
        tables.read_frame(path).to_dicts() for path in (surface_path, verdicts_path, scores_path)
    )
    questions, answers = source.questions_of(questions_path), source.answers_of(answers_path)
    claims = stages.read_claims(claims_path)
    write_text(page_path, rows_page.page(questions, answers, surface, claims, verdicts, scores))


@step(version=1)
def calmqa_ask(
    asking: RecordedOptions,
    subject: Annotated[str, "the key in config.yaml"],
    questions_path: Path,
) -> None:
    """Ask one model every question; write a transcript of every request and answer."""
    asker = Recorder(asking, subject, subject)
    questions = list(source.questions_of(questions_path).values())
    asker.record(f"asking {subject}, questions", asks.answer, questions, len(questions))
    asker.write_manifest([questions_path], seed=asking.seed)


@step(version=3)
def calmqa_answers(
    questions_path: Path,
    answers_path: Path,
    transcripts_paths: Annotated[Sequence[Path], "<subject>.jsonl each"] = (),
    sheets_paths: Sequence[Path] = (),
) -> None:
    """Gather the answers of all subjects: from transcripts of models, and from written sheets."""
    questions = source.questions_of(questions_path)
    answers = [answer for sheet in sheets_paths for answer in source.read_sheet(sheet, questions)]
    for path in transcripts_paths:
        said = transcript.replay(asks.answer, list(questions.values()), path)
        answers += [
            Answer(f"{path.stem}/{question}", path.stem, question, completion.text, completion.finish)
            for question, completion in zip(questions, said, strict=True)
        ]
    tables.write_frame(answers_path, source.to_frame(answers, Answer))
    counts = Counter(answer.subject for answer in answers)
    say(f"calmqa: answers: {', '.join(f'{name} {n}' for name, n in counts.items())}")


@step(version=2)
def calmqa_translations(files: StageFiles, transcript_path: Path, to_path: Path) -> None:
    """Parse a transcript into English translations of the answers. A new parser needs no model."""
    asked = items(files, "translations")
    said = transcript.replay(asks.translate, asked, transcript_path)
    stages.write(to_path, "translations", stages.translation_rows(asked, said))


@step(version=7)
def calmqa_claims(
    files: StageFiles,
    to_path: Path,
    transcript_path: Annotated[Path | None, "of the extractor; without it, sentences are claims"] = None,
) -> None:
    """List the claims of every answer: its sentences, or what a model listed, from its transcript."""
    read = texts(files)
    if transcript_path:
        asked = items(files, "claims")
        claims = stages.claims_by_model(read, asked, transcript.replay(asks.extract, asked, transcript_path))
    else:
        claims = stages.claims_by_rules(read)
    stages.write(to_path, "claims", claims)
    failed = sum(claim.text is None for claim in claims)
    say(f"calmqa: {len(claims) - failed} claims of {len(read)} answers; failures: {failed}")


@step(version=4)
def calmqa_index(
    folder_path: Path, to_path: Annotated[Path, "index.json of the new index; its folder holds the rest"]
) -> None:
    """Index a folder of documents for BM25. The same documents give the same bytes."""
    to_path.unlink(missing_ok=True)  # the documents changed: Snakemake asked for this index again
    index = build([folder_path], to_path.parent)
    say(f"calmqa: {len(index.passages)} passages, {index.signature}")


@step(version=2)
def calmqa_evidence(
    claims_path: Path,
    index_path: Annotated[Path, "index.json"],
    passages: Annotated[int, "at most so many for a claim"],
    to_path: Path,
) -> None:
    """Find passages for every claim."""
    index = packs.open_index(index_path.parent)
    stages.write(to_path, "evidence", stages.evidence_rows(stages.read_claims(claims_path), index, passages))


@step(version=2)
def calmqa_judge(
    files: StageFiles,
    asking: RecordedOptions,
    step: stages.Step,
    name: Annotated[str, "the model's key in config.yaml"],
    verdicts: Literal["binary", "trinary"] = "binary",
) -> None:
    """Ask the model of one stage about everything that stage judges; write a transcript."""
    asker = Recorder(asking, name, f"{name}/{step}")
    asked = items(files, step)
    flow = asks.verify_trinary if step == "verdicts" and verdicts == "trinary" else stages.FLOWS[step]
    asker.record(f"{step} by {name}, requests", flow, asked, len(asked))
    asker.write_manifest(astuple(files), seed=asking.seed)


@step(version=3)
def calmqa_relevance(
    files: StageFiles,
    name: Annotated[str, "the model or the encoder: its key"],
    scale: Literal["five", "binary"],
    to_path: Path,
    transcript_path: Annotated[Path | None, "of the model; without it, the cosine of --encoder"] = None,
    encoder_path: Annotated[Path | None, "manifest of a fetched sentence encoder"] = None,
) -> None:
    """Rate how far every answer addresses its question: as a model said, or by the cosine of an encoder."""
    asked = items(files, "relevance")
    if transcript_path:
        said = transcript.replay(asks.relevance, asked, transcript_path)
        rows = stages.relevance_rows(asked, said, name, scale)
    else:
        assert encoder_path, "--transcript or --encoder"
        pairs = [(item.texts["question"], item.texts["answer"]) for item in asked]
        similarities = cosines(encoder_path.parent / "files", pairs)
        rows = stages.relevance_by_cosine(asked, similarities, f"cosine:{name}", scale)
    stages.write(to_path, "relevance", rows)


@step(version=3)
def calmqa_verdicts(
    name: Annotated[str, "the verifier: a model's key, or rules"],
    claims_path: Path,
    evidence_path: Path,
    to_path: Path,
    verdicts: Literal["binary", "trinary"] = "binary",
    transcript_path: Annotated[Path | None, "of the verifier; without it, by overlap of words"] = None,
) -> None:
    """Say of every claim whether the passages support it: by overlap, or as a model said in its transcript."""
    asked = stages.to_verify(stages.read_claims(claims_path), evidence_path)
    flow = asks.verify_trinary if verdicts == "trinary" else asks.verify
    said = transcript.replay(flow, asked, transcript_path) if transcript_path else None
    rows = stages.verdict_rows(asked, said, "overlap" if said is None else name)
    stages.write(to_path, "verdicts", rows)
    say(f"calmqa: verdicts: {dict(sorted(Counter(row['verdict'] for row in rows).items()))}")


@step(version=1)
def calmqa_scores(
    questions_path: Path,
    answers_path: Path,
    surface_path: Path,
    claims_path: Path,
    verdicts_path: Path,
    relevance_path: Path,
    to_path: Path,
    factuality: Literal["f1@k", "precision"],
    no_claims: Literal["zero", "skip"],
) -> None:
    """Join the stages into the score of every answer."""
    surface, verdicts, relevance = (
        tables.read_frame(path).to_dicts() for path in (surface_path, verdicts_path, relevance_path)
    )
    questions, answers = source.questions_of(questions_path), source.answers_of(answers_path)
    rows = stages.judged(questions, answers, surface, stages.read_claims(claims_path), verdicts, relevance)
    stages.write(to_path, "scores", numbers.scores(rows, factuality, no_claims))


@step(version=2)
def calmqa_surface(
    questions_path: Path,
    answers_path: Path,
    detector: Literal["cld2", "langid"],
    tokens: int,
    times: int,
    surface_path: Path,
    languages_path: Annotated[Path, "how well the detector knows each language"],
) -> None:
    """Check the language and the repetitions of every answer. Asks no model."""
    questions, answers = source.questions_of(questions_path), source.answers_of(answers_path)
    rows, known = stages.surface_rows(questions, answers, detector, tokens, times)
    stages.write(surface_path, "surface", rows)
    lines = [asdict(language) | {"share": language.share, "decidable": language.decidable} for language in known]
    tables.write_lines(languages_path, ("name", "code", "questions", "right", "share", "decidable"), lines)


@step(
    version=8,
    result="results/calmqa/table",
    outputs=["numbers", "page"],
    target="calmqa",
    category="CaLMQA",
    inputs={
        "scores": "calmqa_scores",
        "languages": "calmqa_languages",
        "printed": "paper/calmqa/table.csv",
    },
    settings={"seed": "seed", "how": "calmqa_how"},
    more={"gaps": "results/calmqa/type-gaps.csv"},
)
def calmqa_table(
    scores_path: Path,
    languages_path: Path,
    printed_path: Annotated[Path, "the paper's table"],
    seed: int,
    how: Annotated[str, "how answers were judged, for the page"],
    numbers_path: Path,
    page_path: Path,
    gaps_path: Path,
) -> None:
    """Write S of every subject by type of question and language, with its parts, beside the paper's.

    S of every subject by type of question and by language: surface, factuality and relevance, with intervals over
    questions and all denominators.
    """
    rows = tables.read_frame(scores_path).to_dicts()
    lines = numbers.table(rows, seed)
    tables.write_lines(numbers_path, numbers.TABLE, lines)
    gaps = numbers.type_gaps(rows, seed)
    tables.write_lines(gaps_path, numbers.GAPS, gaps)
    languages, printed = tables.read_lines(languages_path), tables.read_lines(printed_path)
    write_text(page_path, pages.table_page(lines, languages, how, printed, gaps))


@step(
    version=8,
    result="results/calmqa/regression",
    outputs=["numbers", "page"],
    target="calmqa",
    category="CaLMQA",
    inputs={"ratings": "calmqa_ratings"},
    more={"ranks": "results/calmqa/ranks.csv"},
)
def calmqa_regression(ratings_path: Path, numbers_path: Path, page_path: Path, ranks_path: Path) -> None:
    """Write how much of people's ratings each predictor explains, by every usual R², beside the paper's; rank models.

    How much of people's ratings of long answers omissions, factual errors, model and type of question explain, by every
    usual R², and the order of the models.
    """
    human_ratings = ratings.read(ratings_path)
    ranks = ratings.ranks(human_ratings)
    tables.write_lines(ranks_path, ratings.RANKS, ranks)
    lines = ratings.r2_lines(human_ratings)
    tables.write_lines(numbers_path, ratings.R2, lines)
    write_text(page_path, pages.regression_page(human_ratings, ranks, lines))


@step(
    version=3,
    result="results/calmqa/printed",
    outputs=["numbers", "page"],
    target="calmqa",
    category="CaLMQA",
    inputs={
        "questions": "calmqa_questions",
        "surface": "calmqa_surface",
        "scores": "calmqa_scores",
        "languages": "calmqa_languages",
        "ratings": "calmqa_ratings",
        "printed": "paper/calmqa/claims.csv",
    },
    optional=["ratings"],
    settings={"seed": "seed", "settings": "calmqa_claimed"},
)
def calmqa_printed(
    questions_path: Path,
    surface_path: Path,
    scores_path: Path,
    languages_path: Path,
    printed_path: Annotated[Path, "paper/calmqa/claims.csv"],
    seed: int,
    settings: Annotated[dict[str, Any], json.loads, "models and repetition, as JSON"],
    numbers_path: Path,
    page_path: Path,
    ratings_paths: Annotated[Sequence[Path], "ratings by people"] = (),
) -> None:
    """Write every claim of the CaLMQA paper beside ours, with the difference, or the reason why there is none.

    Every claim of the CaLMQA paper: what it prints, what this experiment gives, and the difference, ours minus printed;
    where there is nothing of ours, the reason. Models, questions and documents are others than the paper's.
    """
    lines = tables.read_lines(printed_path)
    rows = tables.read_frame(surface_path).drop("surface", "empty").join(tables.read_frame(scores_path), on="answer")
    answered = printed.answers(
        source.questions_of(questions_path),
        rows.to_dicts(),
        numbers.type_gaps(rows.to_dicts(), seed),
        tables.read_lines(languages_path),
        [rating for path in ratings_paths for rating in ratings.read(path)],
        settings,
    )
    head = "# CaLMQA: every claim of the paper beside ours\n\n"
    answered["cost"] = printed.cost({line["id"]: line["printed"] for line in lines})
    claims.write(numbers_path, page_path, head, claims.stated(lines), answered)
