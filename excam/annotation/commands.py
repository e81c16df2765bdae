"""The commands of a campaign: its page, and the store and server for several annotators."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from excam.annotation import result_commands
from excam.annotation.options import CAMPAIGN, DRAWN, EXPORTS, RATERS, STORE
from excam.core.extras import require_extra
from excam.core.provenance import say
from excam.core.terminal import DRAW_SEED, HOST, HOST_NAMES, ID, PAGE, PORT, exit_on_error, print_text, stop

app = typer.Typer(no_args_is_help=True, help="Let people answer a form: a page in one file, or a server.")
app.command()(result_commands.agreement)
app.command()(result_commands.progress)
app.command()(result_commands.adjudicate)
LISTENING = 8123
HERE = f"http://127.0.0.1:{LISTENING}"  # where `serve` listens unless told otherwise
_ADDRESS = Annotated[
    str, typer.Option("--address", help="what browsers open, as `serve` or the server in front of it is reached")
]


@app.command("form")
def form_(
    name: Annotated[str | None, typer.Argument(help="a form's name, or a YAML file; without: the names")] = None,
) -> None:
    """Check a form, and print the columns of its answers; without a name print the forms of this package.

    Example: excam annotate form long_form
    """
    from excam.annotation import form
    from excam.annotation.form import SUBMITTED

    with exit_on_error():
        if name is None:
            print_text("\n".join(f"{form_name}\t{form.load(form_name).title}" for form_name in form.names()))
            return
        loaded_form = form.load(name)
        for column, question in loaded_form.columns.items():
            needed = "needed" if question.required else "optional"
            values = question.values[column] if question.kind == "flags" else ", ".join(question.values)
            print_text(f"{column}\t{question.kind}\t{needed}\t{values}")
        if loaded_form.submit:
            print_text(f"{SUBMITTED}\tflags\tneeded\t")
        say(f"{name}: shows {', '.join(loaded_form.visible)}; chosen by {', '.join(loaded_form.facets)}")


@app.command()
def draw(
    rows: Annotated[Path, typer.Argument(help="CSV, JSON Lines or another table: what is shown, a row for each task")],
    form: Annotated[str, typer.Option(help="a form's name, or a YAML file")],
    to: DRAWN,
    title: Annotated[str | None, typer.Option(help="what stands above the tasks; default: the form's title")] = None,
    annotators: RATERS = 1,
    id_: Annotated[str | None, ID] = None,
    column: Annotated[list[str] | None, typer.Option(help="ENTRY=COLUMN, for an entry of the form; repeatable")] = None,
) -> None:
    """Make a campaign of rows: one task each, in the order of the file.

    Annotators see what the form shows; all other columns, such as the name of a model, are hidden from them.

    Example: excam annotate draw study.csv --form my.yaml --id nr --column text=Answer --to campaign.json
    """
    from excam.annotation import campaign, drawing
    from excam.annotation import form as forms

    with exit_on_error():
        named: dict[str, str] = {"id": id_} if id_ else {}
        for assignment in column or []:
            entry, equals, name = assignment.partition("=")
            if not equals or entry in named:
                stop(f"--column: found {assignment}; expected ENTRY=COLUMN, each entry once, such as text=Answer")
            named[entry] = name
        loaded_form = forms.load(form)
        tasks = drawing.tasks(rows, loaded_form, annotators, named)
        drawn = campaign.campaign(title or loaded_form.title, loaded_form, tasks)
        campaign.write(to, drawn)
        say(f"{to}: campaign {drawn.id}, {len(drawn.tasks)} tasks; next: `excam annotate page {to} --to page.html`")


@app.command()
def assign(
    campaign: CAMPAIGN,
    team: Annotated[Path, typer.Argument(help="CSV file: annotator, languages (parted by ;), coauthor (yes or no)")],
    to: DRAWN,
    seed: DRAW_SEED = 0,
) -> None:
    """Share tasks out: each to as many people as it wants, by language, and to one co-author at most.

    Example: excam annotate assign campaign.json team.csv --to assigned.json
    """
    from excam.annotation import campaign as campaigns
    from excam.annotation import team as teams

    with exit_on_error():
        drawn, load = teams.assign(campaigns.read(campaign), teams.read(team), seed)
        campaigns.write(to, drawn)
        say(f"{to}: {len(drawn.tasks)} tasks; {', '.join(f'{name} {count}' for name, count in load.items())}")


@app.command()
def page(campaign: CAMPAIGN, to: PAGE) -> None:
    """Write the page that needs no server: each annotator opens the file, answers, and sends back an exported file.

    Example: excam annotate page results/annotation/campaign.json --to page.html
    """
    from excam.annotation import page as pages
    from excam.annotation.campaign import read
    from excam.core.provenance import write_text

    with exit_on_error():
        write_text(to, pages.write(read(campaign)))


@app.command()
def create(
    store: STORE,
    campaign: CAMPAIGN,
    annotators: Annotated[list[str], typer.Argument(help="their names; pseudonyms are best")],
    address: _ADDRESS = HERE,
) -> None:
    """Create a store with these annotators, or add them to one. Print name and link of each; keep the links to
    yourself.

    Anyone with a link can answer in that person's name. The store keeps only its hash and cannot print it again.

    Example: excam annotate create answers.store results/annotation/campaign.json ada grace
    """
    from excam.annotation import page as pages
    from excam.annotation import storage
    from excam.annotation.campaign import read
    from excam.annotation.store import Store, refuse_names

    with exit_on_error():
        prefix = _link_prefix(address)
        refuse_names(annotators)
        loaded_campaign = read(campaign)
        pages.write(loaded_campaign)  # a campaign that no page can show is refused before there are links
        if idle := [name for name in annotators if not loaded_campaign.tasks_of(name)]:
            names = ", ".join(sorted({name for task in loaded_campaign.tasks for name in task.assigned}))
            stop(f"annotator {idle[0]}: no task is assigned to them; expected one of {names[:200]}")
        if not store.exists() or not store.stat().st_size:
            storage.create(store, loaded_campaign)
        with Store(store) as opened:
            if opened.campaign.id != loaded_campaign.id:
                stop(
                    f"{store}: of campaign {opened.campaign.id}; expected {loaded_campaign.id}, as {campaign}; "
                    "take another file"
                )
            for name, token in zip(annotators, opened.add(annotators), strict=True):
                print_text(f"{name}\t{prefix}{token}")


@app.command()
def link(
    store: STORE,
    annotator: Annotated[str, typer.Argument(help="name of an annotator of the store")],
    renew: Annotated[bool, typer.Option("--renew", help="make the links given before worthless")] = False,
    address: _ADDRESS = HERE,
) -> None:
    """Print another link for an annotator who lost theirs; earlier links stay valid unless --renew is given.

    Example: excam annotate link answers.store ada --renew --address https://study.example
    """
    from excam.annotation.store import Store

    with exit_on_error():
        prefix = _link_prefix(address)
        with Store(store) as opened:
            print_text(f"{annotator}\t{prefix}{opened.link(annotator, renew)}")


def _link_prefix(address: str) -> str:
    """Return what stands in front of a link's token. Raise InputInvalid unless it begins as a web address."""
    import re

    from excam.core.exceptions import InputInvalid

    if not re.fullmatch(r"https?://[^\s/?#@]+/?", address):
        raise InputInvalid(f"--address: found {address[:80]!r}; expected scheme and host, as https://study.example")
    return f"{address.rstrip('/')}/a/"


@app.command()
def serve(
    store: STORE,
    host: HOST = "127.0.0.1",
    port: PORT = LISTENING,
    allow_host: HOST_NAMES = None,
) -> None:
    """Serve the page to everybody who has a link, until Ctrl-C. Several people can answer at once.

    Example: excam annotate serve answers.store --port 8123
    """
    from excam.annotation.store import Store

    with exit_on_error():
        require_extra("serve", "fastapi", "uvicorn")
    from excam.annotation import server

    with exit_on_error(), suppress(KeyboardInterrupt), Store(store) as opened:  # uvicorn raises it again at a good end
        server.serve(opened, host, port, allow_host or [])


@app.command()
def export(
    store: STORE,
    to: Annotated[
        Path, typer.Option(help="file to write: .csv or .jsonl (with the id and all of the input's row), or .json")
    ],
    annotator: Annotated[str | None, typer.Option(help="only this annotator's answers")] = None,
) -> None:
    """Write the current answers to a file, also while the server runs.

    CSV and JSON Lines are for you: they have what annotators may not see. JSON is what the page exports and imports.

    Example: excam annotate export answers.store --to answers.csv
    """
    from excam.annotation import exchange
    from excam.annotation.answers import is_done
    from excam.annotation.store import Store
    from excam.core.provenance import write_text

    with exit_on_error(), Store(store) as opened:
        if to.suffix not in (".csv", ".json", ".jsonl"):
            stop(f"{to}: ends in {to.suffix or 'nothing'}; expected .csv, .json or .jsonl")
        campaign = opened.campaign
        answers = opened.answers() if annotator is None else [each.answer for each in opened.latest(annotator)]
        if to.suffix == ".csv":
            text = exchange.to_csv(campaign, answers, exchange.owner_columns(campaign))
        else:
            text = (exchange.to_json if to.suffix == ".json" else exchange.to_lines)(campaign, answers)
        write_text(to, text)
    done = sum(is_done(campaign.form, answer.values) for answer in answers)
    say(f"{to}: {len(answers)} answers, {done} finished, {len(answers) - done} not")


@app.command("import")
def import_(
    store: STORE,
    files: EXPORTS,
) -> None:
    """Import answers from files, each file completely or not at all. Of two answers about one task, keep the later one.

    Example: excam annotate import answers.store ada.json grace.csv
    """
    from excam.annotation import exchange
    from excam.annotation.store import Store

    with exit_on_error(), Store(store) as opened:
        for file in files:
            counts = opened.merge(exchange.read(file, opened.campaign))
            print_text(f"{file}: {', '.join(f'{counts[kind]} {kind}' for kind in ('new', 'newer', 'older', 'same'))}")
