"""The work of authors and reviewers as campaigns: what each of them sees, and what their exported answers say.

Authors fill and translate templates (form `macaron_author`); reviewers approve, revise or remove the scenarios made of
that (form `macaron_review`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from excam.annotation import exchange, form
from excam.annotation.answers import Answer
from excam.annotation.campaign import Campaign, Task, campaign, require_form
from excam.annotation.form import SUBMITTED
from excam.core.exceptions import InputInvalid
from excam.core.hash_order import digest
from excam.macaron.contexts import Context
from excam.macaron.scenarios import Scenario
from excam.macaron.templates import OPTIONS, Template

# What a reviewer saw of an author's texts, and the author sees again.
WRITTEN = ("question_en", "options_en_text", "question_local", "options_local_text", "true_local", "false_local")


def authoring(templates: Sequence[Template], contexts: Sequence[Context], each: int, times: int, seed: int) -> Campaign:
    """Return a campaign in which `times` of the `each` authors of a context, named by number, fill each template.

    Templates are dealt out by a hash: authors get as many, up to one. Every author has an order of their own, so that
    tired hands fill different templates last. Retired templates are left out. Raise InputInvalid for more times than
    authors.
    """
    if times > each:
        raise InputInvalid(f"a template {times} times a context: found {each} authors; expected as many, or more")
    current = [template for template in templates if not template.retired]
    made = []
    numbers: Counter[str] = Counter()  # of authors by name: countries in another script share one
    for context in contexts:
        name = _slug(context.country)
        dealt = sorted(current, key=lambda template: digest(seed, "macaron/deal", context.country, str(template.id)))
        piles = [template for template in dealt for _ in range(times)]
        for pile in range(each):
            numbers[name] += 1
            author = f"{name}-{numbers[name]}"
            batch = sorted(piles[pile::each], key=lambda template: digest(seed, author, str(template.id)))
            made += [
                _author_task(template, context, author, f"{at} of {len(batch)}") for at, template in enumerate(batch, 1)
            ]
    return campaign("Macaron: fill and translate templates", form.load("macaron_author"), made)


def pilot(templates: Sequence[Template], size: int, seed: int) -> list[Template]:
    """Return the templates of a pilot, drawn by a hash. Raise InputInvalid for more than there are."""
    current = [template for template in templates if not template.retired]
    if size > len(current):
        raise InputInvalid(f"a pilot of {size} templates: found {len(current)} that are not retired; expected as many")
    return sorted(current, key=lambda template: digest(seed, "macaron/pilot", str(template.id)))[:size]


def _author_task(template: Template, context: Context, author: str, place: str) -> Task:
    example = [template.example["question"], *template.example["options"]] if template.example else []
    texts = {"note": template.note, "example": "\n".join(example)}
    return Task(
        id=digest(0, "macaron/author", f"{author}/{template.id}")[:16],
        row=f"{author}/{template.id}",
        language=context.language,
        culture=context.country,
        annotators=1,
        shown={
            "place": place,
            "template": template.question,
            "gaps": {name: slot.hint for name, slot in template.slots.items()},
            "allowed": {name: "\n".join(slot.allowed) for name, slot in template.slots.items() if slot.allowed},
            "option_gaps": dict(zip(OPTIONS, template.options, strict=True)),
            "true": template.true,
            "false": template.false,
            **{name: text for name, text in texts.items() if text},
        },
        hidden={"template": str(template.id), "country": context.country, "language": context.language},
        assigned=(author,),
    )


def submissions(files: Sequence[Path], campaign_: Campaign) -> Iterator[dict[str, Any]]:
    """Yield what authors submitted or called not applicable, in the form that `scenarios.build` reads.

    Answers that are not submitted are left out. Raise InputInvalid for a file that holds no answers to the campaign.
    """
    for task, answer in _submitted(files, campaign_, "macaron_author"):
        hidden, skipped = task.hidden, answer["not_applicable"]
        yield {
            "template": int(hidden["template"]),
            "country": hidden["country"],
            "language": hidden["language"],
            "author": answer.annotator,
            "saved": answer.saved,
            "slots": {name: text.strip() for name, text in answer["slots"].items()},
            "options": [answer["options"].get(name, "").strip() for name in OPTIONS],
            **{name: answer[name].strip() for name in ("question_local", "true_local", "false_local", "why", "source")},
            "options_local": [answer["options_local"].get(name, "").strip() for name in OPTIONS],
            "status": "not-applicable" if skipped else "submitted",
        }


def reviewing(scenarios: Sequence[Scenario], per_country: int | None, seed: int) -> tuple[Campaign, dict[str, str]]:
    """Return a campaign with one task per scenario, for reviewers, and why each other scenario is left out.

    Of a country at most `per_country` are drawn, by a hash. Raise InputInvalid for one without statements.
    """
    by_country: dict[str, list[str]] = {}
    for name, country in sorted(
        ((scenario.id, scenario.country) for scenario in scenarios),
        key=lambda pair: digest(seed, "macaron/sample", pair[0]),
    ):
        by_country.setdefault(country, []).append(name)
    drawn = {name for names in by_country.values() for name in names[:per_country]}
    tasks = [_review_task(scenario) for scenario in scenarios if scenario.id in drawn]
    left_out = {scenario.id: "not drawn" for scenario in scenarios if scenario.id not in drawn}
    return campaign("Macaron: review scenarios", form.load("macaron_review"), tasks), left_out


def _review_task(scenario: Scenario) -> Task:
    statements = {name: getattr(scenario, name) for name in ("true_en", "false_en", "true_local", "false_local")}
    if absent := [name for name, text in statements.items() if text is None]:
        raise InputInvalid(
            f"{scenario.id}: no {absent[0]}; expected scenarios made of templates, which have statements"
        )
    return Task(
        id=digest(0, "macaron/review", scenario.id)[:16],
        row=scenario.id,
        language=scenario.language,
        culture=scenario.country,
        annotators=1,
        shown={
            "question_en": scenario.question_en,
            "question_local": scenario.question_local,
            "options_en_text": "\n".join(scenario.options_en),
            "options_local_text": "\n".join(scenario.options_local),
            "option_gaps": dict(zip(OPTIONS, scenario.options_en, strict=True)),
            "option_gaps_local": dict(zip(OPTIONS, scenario.options_local, strict=True)),
            **statements,
            **{name: text for name in ("why", "source") if (text := getattr(scenario, name))},
        },
    )


def reviews(files: Sequence[Path], campaign_: Campaign) -> Iterator[dict[str, Any]]:
    """Yield what reviewers decided, in the form that `scenarios.build` reads.

    Raise InputInvalid for a file that holds no answers to the campaign, and for two reviews of one scenario.
    """
    seen: dict[str, str] = {}
    for task, answer in _submitted(files, campaign_, "macaron_review"):
        if task.row in seen:
            names = f"{seen[task.row]} and {answer.annotator}"
            raise InputInvalid(f"{task.row}: reviewed by {names}; expected one review; leave one file out")
        seen[task.row] = answer.annotator
        changes = dict(_changes(task, answer)) if answer["decision"] == "revise" else {}
        decision = {"scenario": task.row, "decision": answer["decision"], "reason": answer["reason"].strip()}
        yield {**decision, **({"changes": changes} if changes else {}), "reviewer": answer.annotator}


def _changes(task: Task, answer: Answer) -> Iterator[tuple[str, Any]]:
    for name in ("question_en", "question_local", "true_en", "false_en", "true_local", "false_local"):
        if text := answer[f"new_{name}"].strip():
            yield name, text
    for side, gaps in (("en", "option_gaps"), ("local", "option_gaps_local")):
        new, old = answer[f"new_options_{side}"], task.shown[gaps]
        if any(text.strip() for text in new.values()):
            yield f"options_{side}", [new.get(name, "").strip() or old[name] for name in OPTIONS]


def rejected(authors: Campaign, review: Campaign, files: Sequence[Path]) -> tuple[Campaign, int]:
    """Return a campaign of what reviewers did not approve, for its authors, and how many scenarios were approved.

    Authors see what they wrote and what was said of it, and fill the template again. Raise InputInvalid for a review of
    other scenarios, or nothing to return.
    """
    require_form(authors, "macaron_author")
    tasks, texts = ({task.row: task for task in drawn.tasks} for drawn in (authors, review))
    again, approved = [], 0
    for decision in reviews(files, review):
        _, template, author = decision["scenario"].rsplit("/", 2)
        task = tasks.get(f"{author}/{template}")
        if not task:
            raise InputInvalid(f"{decision['scenario'][:60]}: no task of campaign {authors.id}; expected its review")
        remarks = [decision["decision"], decision["reason"], *map(_in_a_line, decision.get("changes", {}).items())]
        written = (texts[decision["scenario"]].shown[name] for name in WRITTEN)
        seen = {"written": "\n".join(written), "feedback": "\n".join(filter(None, remarks))}
        if decision["decision"] == "approve":
            approved += 1
        else:
            again.append(replace(task, shown={**task.shown, **seen}))
    if not again:
        raise InputInvalid(f"{approved} reviews: all approve; expected one that does not, to return to its author")
    return campaign("Macaron: fill templates again", authors.form, again), approved


def _in_a_line(change: tuple[str, Any]) -> str:
    name, value = change
    return f"{name.replace('_', ', ')}: {'; '.join(value) if isinstance(value, list) else value}"


def _submitted(files: Sequence[Path], campaign_: Campaign, name: str) -> Iterator[tuple[Task, Answer]]:
    require_form(campaign_, name)
    for file in files:
        for answer in exchange.read(file, campaign_):
            if answer[SUBMITTED]:
                yield campaign_.by_id[answer.task], answer


def _slug(country: str) -> str:
    """Return a country as part of an annotator's name."""
    return re.sub(r"[^A-Za-z0-9]+", "-", country).strip("-")[:30] or "author"
