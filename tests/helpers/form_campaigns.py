"""A small campaign of each form, with texts of our own in several scripts; hostile ones on request."""

from pathlib import Path

from excam.annotation import answers, campaign, form
from excam.calmqa import seeds
from excam.core.hash_order import digest
from excam.macaron import campaign as macaron
from excam.macaron import contexts, source, templates
from excam.rubric import campaign as raters
from excam.rubric import manual, responses

MINI = Path(__file__).parents[2] / "mini/macaron"
RUBRIC = Path(__file__).parents[2] / "mini/rubric"


def task(name, number, language, culture, shown, hidden=None, assigned=()):
    """A task with a name of the form and a number as its id."""
    identifier = digest(0, "test", name, str(number))[:16]
    return campaign.Task(identifier, f"{name}/{number}", language, culture, 1, shown, hidden or {}, assigned)


LONG = (
    (
        "Korean",
        "Korea",
        "추석에는 어떤 음식을 먹나요?",
        ("송편을 빚어 먹고 토란국을 끓입니다.", "김밥을 먹습니다.", "We eat turkey."),
    ),
    (
        "Arabic",
        "Egypt",
        "ماذا يؤكل في شم النسيم؟",
        ("يؤكل الفسيخ والبصل الأخضر.", "يؤكل الكشري كل يوم.", "الفسيخ الفسيخ الفسيخ"),
    ),
    (
        "Spanish",
        "Mexico",
        "¿Qué se pone en la ofrenda?",
        ("Cempasúchil, pan de muerto y fotos.", "Un árbol.", "👍 Flores."),
    ),
)
IDIOMS = (
    (
        "他终于露出了马脚。", "He finally gave himself away.", "马脚", "to let slip what one wanted to hide",
        "He finally showed the horse's foot.",
    ),
    (
        "这事别画蛇添足。", "Do not gild the lily here.", "画蛇添足", "to spoil something by adding what is not needed",
        "Do not draw a snake.",
    ),
)  # fmt: skip


def long_form():
    tasks = [
        task(
            "long_form",
            at,
            language,
            culture,
            {
                "kind": "specific",
                "question": question,
                "question_en": "In English: the question.",
                **{f"answer_{place}": text for place, text in enumerate(answers, 1)},
            },
            {f"model_{place}": f"model-{place}" for place in (1, 2, 3)},
        )
        for at, (language, culture, question, answers) in enumerate(LONG)
    ]
    return campaign.campaign("Long answers", form.load("long_form"), tasks)


def culture_spans():
    tasks = [
        task("culture_spans", at, "Chinese", "China", {"domain": "literary", "source": source, "reference": reference})
        for at, (source, reference, *_) in enumerate(IDIOMS)
    ]
    return campaign.campaign("Expressions", form.load("culture_spans"), tasks)


def translation_errors():
    tasks = [
        task(
            "translation_errors",
            at,
            "Chinese",
            "China",
            {
                "category": "Linguistic", "source": source, "term": term, "explication": meaning,
                "reference": reference, "translation": translation,
            },
            {"system": "literal", "shots": "0"},
        )
        for at, (source, reference, term, meaning, translation) in enumerate(IDIOMS)
    ]  # fmt: skip
    return campaign.campaign("Translations", form.load("translation_errors"), tasks)


def macaron_author():
    patterns, places = templates.read(MINI / "templates.yaml"), contexts.read_contexts(MINI / "contexts.csv")
    return macaron.authoring(patterns[:3], places[:2], each=1, times=1, seed=0)


def macaron_review():
    return macaron.reviewing(source.read(source.files(MINI), {}).scenarios[:3], None, 0)[0]


def rubric():
    known = responses.read(responses.files(RUBRIC / "responses.jsonl"))
    chosen = [response for response in known if response.task_id in ("japan-3", "turkey-4", "germany-1")]
    return raters.drawn(chosen, ["eva", "li"], 1, 1, manual.load(), seed=0)


def seed_questions():
    return seeds.drawing(["Wolof", "fa"], people=1, each=2)


def seed_review():
    shown = [{"question": "Lu tax?", "question_english": "Why?", "why": "<b>Only here.</b>"}, {"question": "Kan?"}]
    tasks = [task("test", number, "Wolof", "", texts, {"writer": "wo-1"}) for number, texts in enumerate(shown)]
    return campaign.campaign("Check", form.load("seed_review"), tasks)


MADE = {
    "long_form": long_form, "culture_spans": culture_spans, "translation_errors": translation_errors,
    "macaron_author": macaron_author, "macaron_review": macaron_review, "rubric": rubric,
    "seed_questions": seed_questions, "seed_review": seed_review,
}  # fmt: skip


# --- answers

WORDS = ("송편", "كشري", "=1+1", 'he said "so"', "a;b\tc", "two\nlines", "👍 ok", "x, y", "'quoted'", "é")


def value(question, task, chance, odd=False):
    """A value that the field can have, not empty; `odd` texts are those that files must keep to the letter."""
    text = (lambda: chance.choice(WORDS)) if odd else (lambda: f"Word {chance.randrange(1000)}")
    listed = list(question.values)
    if question.kind == "choice":
        return chance.choice(listed)
    if question.kind == "scale":
        return int(chance.choice(listed))
    if question.kind == "text":
        low, high = (1, 1) if odd else question.sentences or (1, 1)
        return " ".join(f"{text()}." for _ in range(chance.randint(low, high)))[: question.longest].removesuffix(".")
    if question.kind == "number":
        amount = round(chance.uniform(question.low, min(question.high, question.low + 100)), question.decimals)
        return int(amount) if amount == int(amount) else amount
    if question.kind == "order":
        return chance.sample(listed, len(listed))
    if question.kind == "slots":
        return {slot: f"{text()} {number}" for number, slot in enumerate(task.shown[question.of])}
    length = len(task.shown[question.of])
    starts = sorted({chance.randrange(length) for _ in range(2)})[: question.marks]
    return [[start, chance.randrange(start + 1, length + 1), chance.choice(listed)] for start in starts]


def values(form_campaign, task, chance, share=0.8, odd=False):
    """Values of an answer, each given with a probability."""
    made = form_campaign.form.empty()
    for question in form_campaign.form.questions:
        for column in question.columns:
            if question.kind == "flags":
                made[column] = column != form_campaign.form.skip and chance.random() < 0.2
            elif chance.random() < share:
                made[column] = value(question, task, chance, odd)
    return made


def finished(form_campaign, task, annotator, chance, saved="2026-04-01T12:00:00.000Z"):
    """A submitted answer that breaks no rule."""
    for _ in range(5000):
        made = values(form_campaign, task, chance, 1.0)
        for rule in form_campaign.form.rules:
            made |= {name: f"Wrong: {made[bound.names]}" for name, bound in rule.then.items() if bound.names}
        if not answers.open_points(form_campaign.form, task, made):
            return answers.Answer(task.id, annotator, {**made, "submitted": True}, 5, saved)
    raise AssertionError(f"{form_campaign.form.name}: no answer without open points")
