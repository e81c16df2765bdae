"""Answer and judge CaLMQA's questions: the steps of its score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from excam.calmqa import asks, numbers, rows_page, source, stages
from excam.calmqa.claims import Claim
from excam.calmqa.source import Question, Reply
from excam.core import tables
from excam.core.provenance import say, write_text
from excam.inference import transcript
from excam.inference.encoder import cosines
from excam.knowledge import index as packs
from excam.knowledge.index import build
from scripts import step
from scripts.asking import RecordedOptions, recorder_of

TEXTS = {"questions": "calmqa_questions", "answers": "calmqa_answers"}
STAGES = {**TEXTS, "surface": "calmqa_surface", "claims": "calmqa_claims", "verdicts": "calmqa_verdicts"}


_Rows = list[dict[str, Any]]  # of a table


@dataclass(frozen=True, kw_only=True)
class _StageFiles:
    """The tables that a stage may be made of."""

    questions_path: Path
    answers_path: Path
    translations_path: Annotated[Path | None, "without them, answers are judged in their own language"] = None
    claims_path: Path | None = None
    evidence_path: Path | None = None


@dataclass(frozen=True, kw_only=True)
class _JudgedFiles:
    """The tables of the answers, and of what was found about each and about its claims."""

    questions_path: Path
    answers_path: Path
    surface_path: Path
    claims_path: Path
    verdicts_path: Path


def judged(files: _JudgedFiles) -> tuple[dict[str, Question], list[Reply], _Rows, list[Claim], _Rows]:
    """Return the contents of these tables, in this order."""
    surface, verdicts = (tables.read_frame(path).to_dicts() for path in (files.surface_path, files.verdicts_path))
    questions, answers = source.questions_of(files.questions_path), source.answers_of(files.answers_path)
    return questions, answers, surface, stages.read_claims(files.claims_path), verdicts


def texts(files: _StageFiles) -> list[stages.Read]:
    """Return the text of each answer that is judged."""
    return stages.texts(
        source.questions_of(files.questions_path), source.answers_of(files.answers_path), files.translations_path
    )


def items(files: _StageFiles, step: stages.Step) -> Sequence[Any]:
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


@step(
    version=1,
    inputs={"files": "calmqa_files"},
    outputs={"questions": "results/calmqa/questions.parquet"},
)
def calmqa_questions(files_paths: Sequence[Path], questions_path: Path) -> None:
    """Read the questions of a folder in the official columns."""
    questions = source.read_questions(files_paths)
    tables.write_frame(questions_path, source.to_frame(questions, source.Question))
    counts = Counter(f"{question.language} {question.type}" for question in questions)
    say(f"calmqa: {len(questions)} questions: {', '.join(f'{name} {n}' for name, n in sorted(counts.items()))}")


@step(
    version=8,
    inputs={**STAGES, "scores": "results/calmqa/scores.parquet"},
    outputs={"page": "results/calmqa/rows.html"},
    category="CaLMQA",
)
def calmqa_rows(files: _JudgedFiles, scores_path: Path, page_path: Path) -> None:
    """Write every answer with the parts of its score, its claims and their verdicts on one page.

    Every answer with the parts of its score, its claims and their verdicts, to search and filter.
    """
    write_text(page_path, rows_page.page(*judged(files), tables.read_frame(scores_path).to_dicts()))


@step(
    version=1,
    asks="model",
    minutes=240,
    journal="results/journal/calmqa/answers.jsonl",
    inputs={"questions": "results/calmqa/questions.parquet"},
    settings={"subject": "model"},
    outputs={
        "transcript": "results/calmqa/transcripts/answers/{model}.jsonl",
        "manifest": "results/calmqa/transcripts/answers/{model}.manifest.json",
    },
    stages=["calmqa/asks.answers"],
)
def calmqa_ask(
    asking: RecordedOptions, subject: Annotated[str, "the key in config.yaml"], questions_path: Path
) -> None:
    """Ask one model every question; write a transcript of every request and answer."""
    asker = recorder_of(asking, subject, subject)
    questions = list(source.questions_of(questions_path).values())
    asker.record(f"asking {subject}, questions", asks.answer, questions, len(questions))
    asker.write_manifest([questions_path], seed=asking.seed)


@step(
    version=3,
    inputs={"questions": "calmqa_questions", "transcripts": "calmqa_transcripts", "sheets": "calmqa_sheets"},
    outputs={"answers": "results/calmqa/answers.parquet"},
    stages=["calmqa/asks.answers"],
)
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
        answered = transcript.replay(asks.answer, list(questions.values()), path)
        answers += [
            Reply(f"{path.stem}/{question}", path.stem, question, completion.text, completion.finish)
            for question, completion in zip(questions, answered, strict=True)
        ]
    tables.write_frame(answers_path, source.to_frame(answers, Reply))
    counts = Counter(answer.subject for answer in answers)
    say(f"calmqa: answers: {', '.join(f'{name} {n}' for name, n in counts.items())}")


@step(
    version=2,
    inputs={**TEXTS, "transcript": "results/calmqa/transcripts/translations.jsonl"},
    outputs={"to": "results/calmqa/translations.parquet"},
    stages=["calmqa/asks.translations"],
)
def calmqa_translations(files: _StageFiles, transcript_path: Path, to_path: Path) -> None:
    """Parse a transcript into English translations of the answers. A new parser needs no model."""
    entries = items(files, "translations")
    answers = transcript.replay(asks.translate, entries, transcript_path)
    stages.write(to_path, "translations", stages.translation_rows(entries, answers))


@step(
    version=7,
    inputs={**TEXTS, "translations": "calmqa_translations", "transcript": "calmqa_transcript_claims"},
    outputs={"to": "results/calmqa/claims.parquet"},
    stages=["calmqa/asks.claims"],
)
def calmqa_claims(
    files: _StageFiles,
    to_path: Path,
    transcript_path: Annotated[Path | None, "of the extractor; without it, sentences are claims"] = None,
) -> None:
    """List the claims of every answer: its sentences, or what a model listed, from its transcript."""
    read = texts(files)
    if transcript_path:
        entries = items(files, "claims")
        claims = stages.claims_by_model(read, entries, transcript.replay(asks.extract, entries, transcript_path))
    else:
        claims = stages.claims_by_rules(read)
    stages.write(to_path, "claims", claims)
    failed = sum(claim.text is None for claim in claims)
    say(f"calmqa: {len(claims) - failed} claims of {len(read)} answers; failures: {failed}")


@step(
    version=4,
    inputs={"documents": "calmqa_documents"},
    settings={"folder": "calmqa.evidence"},
    outputs={"to": "results/calmqa/index/index.json", "files": "results/calmqa/index/passages.parquet"},
    silent=["documents", "files"],
    stages=["knowledge/passages"],
)
def calmqa_index(
    folder_path: Path, to_path: Annotated[Path, "index.json of the new index; its folder holds the rest"]
) -> None:
    """Index a folder of documents for BM25. The same documents give the same bytes."""
    to_path.unlink(missing_ok=True)  # the documents changed: Snakemake asked for this index again
    index = build([folder_path], to_path.parent)
    say(f"calmqa: {len(index.passages)} passages, {index.signature}")


@step(
    version=2,
    inputs={
        "claims": "results/calmqa/claims.parquet",
        "index": "results/calmqa/index/index.json",
        "files": "results/calmqa/index/passages.parquet",
    },
    settings={"passages": "calmqa.passages"},
    outputs={"to": "results/calmqa/evidence.parquet"},
    silent=["files"],
    stages=["knowledge/passages"],
)
def calmqa_evidence(
    claims_path: Path,
    index_path: Annotated[Path, "index.json"],
    passages: Annotated[int, "at most so many for a claim"],
    to_path: Path,
) -> None:
    """Find passages for every claim."""
    index = packs.open_index(index_path.parent)
    stages.write(to_path, "evidence", stages.evidence_rows(stages.read_claims(claims_path), index, passages))


@step(
    version=2,
    asks="calmqa_judge",
    minutes=240,
    journal="results/journal/calmqa/{step}.jsonl",
    inputs={
        **TEXTS,
        "translations": "calmqa_judged_translations",
        "claims": "calmqa_judged_claims",
        "evidence": "calmqa_judged_evidence",
    },
    settings={"name": "calmqa_judge"},
    outputs={
        "transcript": "results/calmqa/transcripts/{step}.jsonl",
        "manifest": "results/calmqa/transcripts/{step}.manifest.json",
    },
    wildcards={"step": "calmqa_steps"},
    stages=["calmqa/asks.{step}"],
)
def calmqa_judge(
    files: _StageFiles,
    asking: RecordedOptions,
    step: stages.Step,
    name: Annotated[str, "the model's key in config.yaml"],
) -> None:
    """Ask the model of one stage about everything that stage judges; write a transcript."""
    asker = recorder_of(asking, name, f"{name}/{step}")
    entries = items(files, step)
    asker.record(f"{step} by {name}, requests", stages.FLOWS[step], entries, len(entries))
    asker.write_manifest(astuple(files), seed=asking.seed)


@step(
    version=3,
    inputs={
        **TEXTS,
        "translations": "calmqa_translations",
        "transcript": "calmqa_transcript_relevance",
        "encoder": "calmqa_encoder",
    },
    settings={"name": "calmqa_rater"},
    outputs={"to": "results/calmqa/relevance.parquet"},
    stages=["calmqa/asks.relevance"],
    environment="inference",
)
def calmqa_relevance(
    files: _StageFiles,
    name: Annotated[str, "the model or the encoder: its key"],
    to_path: Path,
    transcript_path: Annotated[Path | None, "of the model; without it, the cosine of --encoder"] = None,
    encoder_path: Annotated[Path | None, "manifest of a fetched sentence encoder"] = None,
) -> None:
    """Rate how far every answer addresses its question: as a model said, or by the cosine of an encoder."""
    entries = items(files, "relevance")
    if transcript_path:
        answers = transcript.replay(asks.relevance, entries, transcript_path)
        rows = stages.relevance_rows(entries, answers, name)
    else:
        assert encoder_path, "--transcript or --encoder"
        pairs = [(item.texts["question"], item.texts["answer"]) for item in entries]
        similarities = cosines(encoder_path.parent / "files", pairs)
        rows = stages.relevance_by_cosine(entries, similarities, f"cosine:{name}")
    stages.write(to_path, "relevance", rows)


@step(
    version=3,
    inputs={
        "claims": "results/calmqa/claims.parquet",
        "evidence": "results/calmqa/evidence.parquet",
        "transcript": "calmqa_transcript_verdicts",
    },
    settings={"name": "calmqa.verifier"},
    outputs={"to": "results/calmqa/verdicts.parquet"},
    stages=["calmqa/asks.verdicts", "knowledge/passages"],
)
def calmqa_verdicts(
    name: Annotated[str, "the verifier: a model's key, or rules"],
    claims_path: Path,
    evidence_path: Path,
    to_path: Path,
    transcript_path: Annotated[Path | None, "of the verifier; without it, by overlap of words"] = None,
) -> None:
    """Say of every claim whether the passages support it: by overlap, or as a model said in its transcript."""
    entries = stages.to_verify(stages.read_claims(claims_path), evidence_path)
    answers = transcript.replay(asks.verify, entries, transcript_path) if transcript_path else None
    rows = stages.verdict_rows(entries, answers, "overlap" if answers is None else name)
    stages.write(to_path, "verdicts", rows)
    say(f"calmqa: verdicts: {dict(sorted(Counter(row['verdict'] for row in rows).items()))}")


@step(
    version=1,
    inputs={**STAGES, "relevance": "results/calmqa/relevance.parquet"},
    settings={"factuality": "calmqa.factuality"},
    outputs={"to": "results/calmqa/scores.parquet"},
)
def calmqa_scores(
    files: _JudgedFiles, relevance_path: Path, to_path: Path, factuality: Literal["f1@k", "precision"]
) -> None:
    """Join the stages into the score of every answer."""
    rows = stages.judged(*judged(files), tables.read_frame(relevance_path).to_dicts())
    stages.write(to_path, "scores", numbers.scores(rows, factuality))


@step(
    version=2,
    inputs=TEXTS,
    settings={"detector": "calmqa.detector", "tokens": "calmqa.repetition.tokens", "times": "calmqa.repetition.times"},
    outputs={"surface": "results/calmqa/surface.parquet", "languages": "results/calmqa/languages.csv"},
)
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
    rows, languages = stages.surface_rows(questions, answers, detector, tokens, times)
    stages.write(surface_path, "surface", rows)
    lines = [asdict(language) | {"share": language.share, "decidable": language.decidable} for language in languages]
    tables.write_lines(languages_path, ("name", "code", "questions", "right", "share", "decidable"), lines)
