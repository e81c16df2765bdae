"""The pages of all forms in a real Chromium: the same checks as in Python, and people who use them."""

import json
import random

import page_faults
import polars as pl
import pytest
from annotation_page_driver import READY, downloaded, imported, opened, text_of
from annotation_server_process import Running, made, put
from excam_commands import succeed
from form_campaigns import MADE, MINI, finished, values
from form_page_driver import answer_by_tab, phone, with_form, write

from excam.annotation import answers, campaign, exchange
from excam.core.exceptions import InputInvalid
from excam.macaron import contexts, scenarios, templates
from excam.macaron.campaign import authoring

SAVED = "2026-04-01T12:00:00.000Z"
SENT = "session.keeper.queue.size === 0"
ONE = "long_form"  # the form with the most kinds of field; the others are driven in the nightly run
EACH = [pytest.param(name, marks=() if name == ONE else pytest.mark.nightly) for name in MADE]


def annotator(form_campaign):
    return form_campaign.tasks[0].assigned[0] if form_campaign.tasks[0].assigned else "ann-1"


def read_or_none(row, form_campaign):
    try:
        return answers.read(row, form_campaign)
    except InputInvalid:
        return None


def mutated(values, chance):
    """The values with one of them replaced by something of any type."""
    odd = (
        *("", None, True, False, 0, 3, 6, -1, 2.5, [], {}, "x", ["1"], {"A": "b"}),
        [[0, 1, "factual"]],
        [[0, 10**6, "x"]],
    )
    return {**values, chance.choice(list(values)): chance.choice(odd)}


@pytest.mark.parametrize("name", MADE)
def test_the_page_checks_what_python_checks(browser, tmp_path, name):
    form_campaign, chance = MADE[name](), random.Random(name)
    who = annotator(form_campaign)
    opened(browser, tmp_path, form_campaign, who)
    tasks, rows = form_campaign.tasks_of(who), []
    for number in range(150):
        asked_task = tasks[number % len(tasks)]
        row_values = values(form_campaign, asked_task, chance, chance.choice((0.3, 0.9, 1.0)), odd=True)
        row_values |= {"submitted": chance.random() < 0.3}
        row_values = mutated(row_values, chance) if number % 2 else row_values
        rows.append({"task": asked_task.id, "annotator": who, **row_values, "seconds": number, "saved": SAVED})
    said = browser.js(
        f"{json.dumps(rows)}.map((row) => {{ const problem = answerProblem(row);"
        " return [problem, problem ? [] : openPoints(data.tasks.find((one) => one.id === row.task), row)]; })"
    )
    good = []
    for row, (problem, open_) in zip(rows, said, strict=True):
        answer = read_or_none(row, form_campaign)
        assert (answer is None) == bool(problem), (row, problem)
        if answer is None:
            continue
        task = next(task for task in tasks if task.id == answer.task)
        assert open_ == answers.open_points(form_campaign.form, task, answer.values)
        good.append(answer)
    assert 20 < len(good) < 150
    kept = {answer.task: answer for answer in good}
    sent = json.dumps([[answer.task, answer.row()] for answer in kept.values()])
    assert browser.js(f"toJson(new Map({sent}))") == exchange.to_json(form_campaign, kept.values())
    assert browser.js(f"toCsv(new Map({sent}))") == exchange.to_csv(form_campaign, kept.values())


@pytest.mark.parametrize("name", EACH)
def test_a_form_by_keyboard_alone(browser, tmp_path, name):
    """Every field is reached and answered, all is submitted; export, import into a new browser, export: the same bytes."""
    form_campaign, chance = MADE[name](), random.Random(name)
    who = annotator(form_campaign)
    opened(browser, tmp_path, form_campaign, who)
    wanted = [finished(form_campaign, task, who, chance) for task in form_campaign.tasks_of(who)[:2]]
    for at, answer in enumerate(wanted):
        browser.wait(f"session.task.id === '{answer.task}'")
        answer_by_tab(browser, form_campaign, answer)
        here = browser.js("answerHere()")
        assert {**here, "seconds": 0, "saved": ""} == {**answer.row(), "seconds": 0, "saved": ""}
        assert text_of(browser, "task-status") == "done"
        if at == 0:
            browser.js("document.getElementById('task-head').focus()")
            browser.key("n", 78, "n")
    first = {kind: downloaded(browser, tmp_path, kind) for kind in ("json", "csv")}
    opened(browser, tmp_path, form_campaign, who)
    assert imported(browser, tmp_path, first["json"].decode()).startswith("Imported 2 of 2")
    assert {kind: downloaded(browser, tmp_path, kind) for kind in ("json", "csv")} == first
    assert exchange.to_json(form_campaign, exchange.read(first["csv"], form_campaign)).encode() == first["json"]
    assert not browser.said("Runtime.exceptionThrown")


@pytest.mark.parametrize("name", MADE)
def test_a_form_on_a_phone_in_the_dark(browser, tmp_path, name):
    form_campaign = MADE[name]()
    with phone(browser, 360, 740, scale=2):
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        opened(browser, tmp_path, form_campaign, annotator(form_campaign))
        assert browser.js("document.documentElement.dataset.theme") == "dark"
        assert browser.js("document.documentElement.scrollWidth") <= 360  # innerWidth would grow with the page
        small = browser.js(
            "[...document.querySelectorAll('#task button, #task label.choice')].filter((one) => one.offsetParent)"
            ".map((one) => [one.id || one.textContent, one.getBoundingClientRect().height]).filter(([, high]) => high < 32)"
        )
        assert small == []  # what a finger must hit
        assert browser.js("document.getElementById('task').offsetTop < innerHeight"), (
            "a task begins on the first screen"
        )
        assert page_faults.skipped_headings(browser) == []
        browser.call("Emulation.setEmulatedMedia", features=[])


def test_on_a_phone_what_is_open_stays_in_view_and_leads_to_its_question(browser, tmp_path):
    campaign_shown = MADE["long_form"]()
    with phone(browser):
        opened(browser, tmp_path, campaign_shown, "ann-1")
        required = sum(question.required for question in campaign_shown.form.questions)
        for where in (0, 1500, 3000):
            browser.js(f"scrollTo(0, document.getElementById('task').offsetTop + {where})")
            top, bottom, bar = browser.js(
                "(() => { const r = document.getElementById('open-count').getBoundingClientRect();"
                " return [r.top, r.bottom, document.getElementById('bar').getBoundingClientRect().top]; })()"
            )
            assert 0 < top < bottom <= bar
        assert text_of(browser, "open-count") == f"Still open: {required}"
        last = [question for question in campaign_shown.form.questions if question.required][-1]
        browser.js("scrollTo(0, 0)")
        browser.js("document.getElementById('open-count').click()")
        browser.js("document.querySelector('#open-points li:last-child button').click()")
        browser.wait(f"document.activeElement.closest('[data-field={last.field}]')")
        top, bottom = browser.js(
            f"(() => {{ const r = document.querySelector('[data-field={last.field}]').getBoundingClientRect();"
            " return [r.top, r.bottom]; })()"
        )
        assert 0 <= top < 844
        assert not browser.js("document.getElementById('open-list').open")
        full = finished(campaign_shown, campaign_shown.tasks[0], "ann-1", random.Random(1)).values
        first = next(question.field for question in campaign_shown.form.questions if question.required)
        browser.js(f"change({json.dumps({first: full[first]})})")
        browser.wait(f"document.getElementById('open-count').textContent === 'Still open: {required - 1}'")
        browser.open((tmp_path / "page.html").as_uri(), READY)  # what is begun is there again after a reload
        browser.wait("session.task && document.getElementById('open-count').textContent !== ''")
        assert text_of(browser, "open-count") == f"Still open: {required - 1}"


LINES = """Object.fromEntries([...document.querySelectorAll('#steps [data-field]')].filter((e) => e.offsetParent)
  .map((e) => [e.dataset.field, e.classList.contains('open') ? 'open' : e.querySelector('.unfold .hint').textContent]))"""


def test_on_a_phone_one_question_is_open_and_a_tap_opens_the_next(browser, tmp_path):
    with phone(browser):
        opened(browser, tmp_path, MADE["long_form"](), "ann-1")
        assert browser.js("document.scrollingElement.scrollHeight / innerHeight") < 4
        before = browser.js(LINES)
        assert [field for field, words in before.items() if words == "open"] == ["rating_1"]
        assert before["omissions_1"] == "not answered"
        browser.click("#rating_1-4")
        after = browser.js(LINES)
        assert (after["rating_1"], after["omissions_1"]) == ("4 good", "open")
        browser.js("document.getElementById('omissions_1-none').focus()")
        browser.key("ArrowDown", 40)  # goes through the choices
        assert browser.js(LINES)["omissions_1"] == "open"
        browser.click("[data-field=rating_1] > .unfold")  # an answer can be changed
        assert (browser.js(LINES)["rating_1"], browser.js("document.activeElement.id")) == ("open", "rating_1-4")
    assert browser.js("[...document.querySelectorAll('.unfold')].every((button) => !button.offsetParent)")


def test_a_broken_rule_is_shown_and_refuses_to_submit(browser, tmp_path):
    form_campaign = MADE["long_form"]()
    opened(browser, tmp_path, form_campaign, "ann-1")
    good = finished(form_campaign, form_campaign.tasks[0], "ann-1", random.Random(1))
    browser.js(f"change({json.dumps({**good.values, 'submitted': False, 'factuality_1': 'major', 'rating_1': 5})})")
    assert text_of(browser, "open-points") == "Answer A: factual errors are major, but its rating is 5."
    browser.click("#submit")
    assert browser.js("answerHere().submitted") is False
    assert text_of(browser, "said").startswith("Not submitted: Answer A")
    browser.click("#rating_1-4")
    browser.click("#submit")
    assert browser.js("answerHere().submitted") is True
    browser.click("#rating_1-5")  # a change that breaks a rule takes the submission back, and says so
    assert browser.js("answerHere().submitted") is False
    assert text_of(browser, "said").startswith("No longer submitted: Answer A")
    browser.click("#reset")
    assert browser.js("answerHere().rating_1") is None
    browser.click("#reset")
    assert browser.js("answerHere().rating_1") == 5


def test_the_question_of_a_template_is_live(browser, tmp_path):
    form_campaign = MADE["macaron_author"]()
    who = annotator(form_campaign)
    opened(browser, tmp_path, form_campaign, who)
    browser.js("goTo(data.tasks.find((one) => 'FESTIVAL' in one.shown.gaps))")
    gaps = browser.js("Object.keys(session.task.shown.gaps)")
    for at, gap in enumerate(gaps):
        browser.click(f"#slots-{at}")
        browser.call("Input.insertText", text=f"my {gap} [FESTIVAL]")
    text = browser.js("[...document.querySelectorAll('.show.filled')].map((one) => one.textContent)")
    assert "my FESTIVAL [FESTIVAL]" in text[0]  # one pass: a value is not searched for slots
    assert "[OPTION A]" in text[1]
    assert "A gap has [brackets] in it" in text_of(browser, "open-points")


def test_a_gap_takes_listed_values_alone(browser, tmp_path):
    places = contexts.read_contexts(MINI / "contexts.csv")[:1]
    authoring_campaign = authoring(templates.read(MINI / "templates.yaml"), places, each=1, times=1, seed=0)
    opened(browser, tmp_path, authoring_campaign, annotator(authoring_campaign))
    browser.js("goTo(data.tasks.find((one) => 'MONTH' in one.shown.gaps))")
    at = browser.js("Object.keys(session.task.shown.gaps).indexOf('MONTH')")
    said = "A gap holds what it may not: choose one of the values beside it."
    browser.click(f"#slots-{at}")
    for typed, refused in (("Augus", True), ("t", False)):
        browser.call("Input.insertText", text=typed)
        assert (said in text_of(browser, "open-points")) is refused


def test_others_are_shown_after_ones_own(browser, tmp_path):
    """In tasks that the form compares, and without names."""
    compared = {"when": {"kind": ["specific"]}, "fields": ["rating_1", "ranking"]}
    form_campaign, chance = with_form(MADE["long_form"](), compare=compared), random.Random(5)
    task, other = form_campaign.tasks[:2]
    links = made(tmp_path / "answers.store", form_campaign, ["eva", "li"])
    with Running(tmp_path / "answers.store", log=tmp_path / "log") as server, server.client() as client:
        theirs = finished(form_campaign, task, "li", chance)
        assert put(client, links["li"], theirs).status_code == 200
        place = f"{links['eva']}/answers/{task.id}/others"
        assert (client.get(place).status_code, client.get(place.replace(task.id, "f" * 16)).status_code) == (403, 404)
        browser.open(f"{server.url}{links['eva']}#task-{task.id}", READY)
        mine = finished(form_campaign, task, "eva", chance)
        browser.js(f"change({json.dumps({**mine.values, 'submitted': False})})")
        browser.wait(SENT)
        assert browser.js("$('others').hidden")
        browser.js("submit()")
        browser.wait("!$('others').hidden")
        assert "li" not in text_of(browser, "others").split()
        rating, ranking = (form_campaign.form.columns[name].values for name in ("rating_1", "ranking"))
        said = [
            f"{theirs['rating_1']} {rating[str(theirs['rating_1'])]}",
            *(ranking[name] for name in theirs["ranking"]),
        ]
        assert text_of(browser, "others-rows") == said[0] + " > ".join(said[1:])
        assert client.get(place).json() == {"answers": [{name: theirs[name] for name in ("rating_1", "ranking")}]}
        put(client, links["eva"], finished(form_campaign, other, "eva", chance))
        assert client.get(place.replace(task.id, other.id)).json() == {"answers": []}


def test_marks_are_said_with_their_words_and_gaps_with_their_names(browser, tmp_path):
    opened(browser, tmp_path, MADE["culture_spans"](), "ann-1")
    ((label, words), *_) = browser.js("Object.entries(questionOf('source_span').values)")
    text = browser.js("session.task.shown[questionOf('source_span').of]")
    said = browser.js(f"valueShown('source_span', [[0, 2, '{label}'], [1, 2, '{label}']], session.task)")
    assert said == f"marked 2: “{text[:2]}” (0–2) {words}; “{text[1]}” (1–2) {words}"
    opened(browser, tmp_path, MADE["macaron_author"](), annotator(MADE["macaron_author"]()))
    assert browser.js("valueShown('options', {'OPTION A': 'tofu', B: ''}, session.task)") == "OPTION A: tofu; B: "
    assert browser.js("valueShown('options', {'OPTION A': ' ', B: ''}, session.task)") == "not answered"


def test_an_input_method_cannot_change_the_text_to_mark(browser, tmp_path):
    form_campaign = MADE["culture_spans"]()
    opened(browser, tmp_path, form_campaign, "ann-1")
    area = "document.getElementById('source_span-text')"
    before = browser.js(f"{area}.value")
    browser.click("#source_span-text")
    browser.call("Input.imeSetComposition", text="あい", selectionStart=2, selectionEnd=2)
    browser.call("Input.insertText", text="愛")
    assert browser.js(f"{area}.value") == before


def test_a_wrong_number_takes_back_the_one_before(browser, tmp_path):
    years = {"field": "years", "kind": "number", "label": "Years", "low": 0, "high": 99}
    step = {"title": "Years", "blocks": [years]}
    opened(browser, tmp_path, with_form(MADE["long_form"](), steps=[step], rules=[]), "ann-1")
    write(browser, "#years", "5")
    assert browser.js("answerHere().years") == 5
    write(browser, "#years", "500")
    assert browser.js("[answerHere().years, $('years').value]") == [None, "500"]
    assert text_of(browser, "years-problem").startswith("Expected 0 to 99")
    assert "Not answered: Years" in text_of(browser, "open-points")


def test_the_key_shown_is_the_key_that_answers(browser, tmp_path):
    scale = {"field": "warmth", "kind": "scale", "label": "Warmth", "values": {"0": "cold", "1": "warm", "12": "hot"}}
    step = {"title": "Warmth", "blocks": [scale]}
    opened(browser, tmp_path, with_form(MADE["long_form"](), steps=[step], rules=[]), "ann-1")
    keys = "[...document.querySelectorAll('#task .choice')].map((one) => one.querySelector('kbd')?.textContent ?? '')"
    assert browser.js(keys) == ["0", "1", ""]
    browser.key("0", 48, "0")
    assert browser.js("answerHere().warmth") == 0


def test_pauses_are_proposed_once(browser, tmp_path):
    """At every n tasks, and where the last ones took long or were spread."""
    pauses = [{"say": "Two are done.", "every": 2}, {"say": "You are slow.", "last": 3, "minutes": 1}]
    form_campaign = with_form(MADE["long_form"](), pauses=pauses)
    opened(browser, tmp_path, form_campaign, "ann-1")
    chance = random.Random(3)
    for at, task in enumerate(form_campaign.tasks):
        good = finished(form_campaign, task, "ann-1", chance)
        browser.js(
            f"goTo(data.tasks[{at}]); change({json.dumps({**good.values})}); answers().get('{task.id}').seconds = 100; refresh()"
        )
        said = browser.js("$('pause').hidden ? '' : $('pause-words').textContent")
        assert said == ("", "Two are done.", "You are slow.")[at]
        if said:
            browser.click("#pause-seen")
            assert browser.js("$('pause').hidden")


# --- a scenario through the pages: authored, reviewed, derived

AUTHORED = {
    "slots": {"COUNTRY": "Japan", "DISH": "hiyayakko"},
    "options": {"OPTION A": "tofu", "OPTION B": "konnyaku", "OPTION C": "daikon", "OPTION D": "salmon"},
    "question_local": "日本で客に冷奴が出されました。その主な材料は次のうちどれですか。",
    "options_local": {"OPTION A": "豆腐", "OPTION B": "こんにゃく", "OPTION C": "大根", "OPTION D": "鮭"},
    "true_local": "日本で出される冷奴の主な材料は豆腐です。",
    "false_local": "日本で出される冷奴の主な材料はこんにゃくです。",
    "why": "Hiyayakko is chilled tofu.",
    "source": "A cookbook",
    "checked": True,
}


def test_a_scenario_is_authored_reviewed_and_derived(browser, tmp_path):
    drawn = tmp_path / "campaign.json"
    succeed("macaron", "draw", MINI / "templates.yaml", "--contexts", MINI / "contexts.csv", "--each", 1, "--to", drawn)
    authoring_campaign = campaign.read(drawn)
    opened(browser, tmp_path, authoring_campaign, "Japan-1")
    task = next(task for task in authoring_campaign.tasks_of("Japan-1") if task.hidden["template"] == "1")
    browser.js(f"goTo(data.tasks.find((one) => one.id === '{task.id}'))")
    written = answers.Answer(task.id, "Japan-1", {**authoring_campaign.form.empty(), **AUTHORED, "submitted": True})
    answer_by_tab(browser, authoring_campaign, written)
    (tmp_path / "author.json").write_bytes(downloaded(browser, tmp_path, "json"))
    succeed("macaron", "collect", drawn, tmp_path / "author.json", "--to", tmp_path / "authors.jsonl")
    build = (
        "build",
        tmp_path / "authors.jsonl",
        "--templates",
        MINI / "templates.yaml",
        "--contexts",
        MINI / "contexts.csv",
    )
    succeed("macaron", *build, "--to", tmp_path / "scenarios.parquet")

    succeed("macaron", "review", tmp_path / "scenarios.parquet", "--to", tmp_path / "review.json")
    review = campaign.read(tmp_path / "review.json")
    opened(browser, tmp_path, review, "reviewer")
    better = "日本で冷奴を出されました。主な材料は次のうちどれですか。"
    decided = {"decision": "revise", "reason": "shorter", "new_question_local": better}
    gaps = dict.fromkeys(review.tasks[0].shown["option_gaps"], "")
    decided |= {"new_options_en": gaps, "new_options_local": {**gaps, "OPTION D": "サケ"}, "submitted": True}
    answer_by_tab(browser, review, answers.Answer(review.tasks[0].id, "reviewer", {**review.form.empty(), **decided}))
    (tmp_path / "review-1.json").write_bytes(downloaded(browser, tmp_path, "json"))
    succeed(
        "macaron", "collect", tmp_path / "review.json", tmp_path / "review-1.json", "--to", tmp_path / "reviews.jsonl"
    )
    succeed("macaron", *build, "--reviews", tmp_path / "reviews.jsonl", "--to", tmp_path / "reviewed.parquet")
    (scenario,) = scenarios.read(tmp_path / "reviewed.parquet")
    assert (scenario.status, scenario.author, scenario.question_local) == ("revised", "Japan-1", better)
    assert scenario.question_en == "A guest in Japan is served hiyayakko. Which of these is its main ingredient?"
    assert scenario.options_local == ("豆腐", "こんにゃく", "大根", "サケ")
    assert scenario.true_en == "The main ingredient of hiyayakko, as it is served in Japan, is tofu."
    succeed("macaron", "derive", tmp_path / "reviewed.parquet", "--to", tmp_path / "instances.parquet")
    assert len(pl.read_parquet(tmp_path / "instances.parquet")) == 6
