"""`excam knowledge`: documents to a pack of passages, which scoring puts before a judge or compares claims with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from excam.core.provenance import say
from excam.core.terminal import JSON, exit_on_error, print_json, print_text

if TYPE_CHECKING:
    from excam.knowledge.documents import DocumentReading

app = typer.Typer(no_args_is_help=True, help="Make and search packs of passages from your documents.")
WANTED = Annotated[str, typer.Option(help="only passages of it, or that state none")]
PACK = Annotated[Path, typer.Argument(help="folder that `excam knowledge build` wrote")]
LISTED = 10  # skipped files and rows that are named


@app.command()
def build(
    sources: Annotated[
        list[Path], typer.Argument(help="files or folders: PDF, DOCX, PPTX, EPUB, Markdown, HTML, text, tables")
    ],
    to: Annotated[Path, typer.Option(help="folder of the pack")],
    language: Annotated[str, typer.Option(help="of documents that state none: German, or de")] = "",
    culture: Annotated[str, typer.Option(help="of documents that state none, such as Norway")] = "",
    licence: Annotated[str, typer.Option(help="of documents that state none, such as CC-BY-SA-4.0")] = "",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="replace a pack of other documents")] = False,
) -> None:
    """Make a pack of passages from documents, so that texts can be judged with them. No network.

    Sources are files as people have them and folders of these: PDF (cited with their pages), DOCX, PPTX, EPUB,
    Markdown, HTML, plain text, and tables (XLSX, CSV, JSON Lines, Parquet), whose columns are found by their names.
    PDF, office files and EPUB need the extra documents. The same documents give the same bytes. Exit codes: 0 built,
    1 nothing could be read, 2 not built.

    Example: excam knowledge build notes/ norway.html --licence CC-BY-4.0 --culture Norway --to pack/
    """
    from excam.core.language_identity import language_code
    from excam.core.provenance import quiet_libraries
    from excam.knowledge import documents, index

    quiet_libraries()
    with exit_on_error():
        code = language_code(language) if language else ""
        try:
            reading = documents.read(sources, documents.DocumentDefaults(code, culture.strip(), licence.strip()))
        except documents.NothingRead as problem:
            say(str(problem))
            raise typer.Exit(1) from None
        pack = index.write(reading, to, overwrite=overwrite)
        _say_what_was_read(reading)
        say(f"{to}: {len(pack.passages)} passages, {pack.signature}")


def _say_what_was_read(reading: DocumentReading) -> None:
    from excam.knowledge.passages import repeated

    for kind in dict.fromkeys(file.kind for file in reading.files):
        files = [file for file in reading.files if file.kind == kind]
        documents, passages = (sum(getattr(file, name) for file in files) for name in ("documents", "passages"))
        say(f"{kind}: files: {len(files)}, documents: {documents}, passages: {passages}")
    for note in reading.notes:
        say(note)
    for skipped in reading.skipped[:LISTED]:
        say(f"skipped: {skipped.where}: {skipped.reason}")
    if len(reading.skipped) > LISTED:
        say(f"skipped: {len(reading.skipped) - LISTED} more")
    total = len(reading.files) + reading.unread
    say(f"files that could not be read: {reading.unread} of {total} ({reading.unread / total:.0%})")
    notes = {
        "skipped": len(reading.skipped),
        "passages that repeat another": repeated(reading.passages),
        "page numbers, running heads and hidden elements left out": reading.left_out,
    }
    say("; ".join(f"{name}: {count}" for name, count in notes.items()))


@app.command()
def search(
    pack: PACK,
    query: Annotated[str, typer.Argument(help="words to look for")],
    count: Annotated[int, typer.Option(min=1, help="passages at most")] = 3,
    language: WANTED = "",
    culture: WANTED = "",
    as_json: JSON = False,
) -> None:
    """Print the passages of a pack that share most with a query, best first, with score, id and licence.

    Exit codes: 0 found, 1 no passage shares a word with the query, 2 not searched.

    Example: excam knowledge search pack/ "When is brown cheese eaten?"
    """
    from dataclasses import asdict

    from excam.core.provenance import quiet_libraries
    from excam.knowledge.index import open_index

    quiet_libraries()
    with exit_on_error():
        index = open_index(pack)
        if problem := index.mismatch(language, culture):
            say(f"{pack}: {problem}")
            raise typer.Exit(1)
        hits = index.search(query, count, language=language, culture=culture)
        for number, hit in enumerate(hits, 1):
            if as_json:
                print_json({"score": round(hit.score, 4), **asdict(hit.passage)})
                continue
            facts = [hit.passage.id, hit.passage.licence, hit.passage.language, hit.passage.culture, hit.passage.url]
            print_text(f"[{number}] {hit.score:.2f}  {'  '.join(fact for fact in facts if fact)}")
            print_text(f"    {hit.passage.title}" if hit.passage.title else "    –")
            print_text("\n".join(f"    {line}" for line in hit.passage.text.split("\n")) + "\n")
        if not hits:
            say(f"{pack}: no passage shares a word with the query")
            raise typer.Exit(1)
