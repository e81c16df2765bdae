"""A small campaign of each form, with texts of our own in several scripts; hostile ones on request."""

from pathlib import Path

from excam.annotation import campaign, form
from excam.core.hash_order import digest
from excam.macaron import campaign as macaron
from excam.macaron import scenarios, source, templates

MINI = Path(__file__).parents[2] / "mini/macaron"


def task(name, number, language, culture, shown, hidden=None, assigned=()):
    """A task with a name of the form and a number as its id."""
    found = digest(0, "test", name, str(number))[:16]
    return campaign.Task(found, f"{name}/{number}", language, culture, 1, shown, hidden or {}, assigned)


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
        "他终于露出了马脚。",
        "He finally gave himself away.",
        "马脚",
        "to let slip what one wanted to hide",
        "He finally showed the horse's foot.",
    ),
    (
        "这事别画蛇添足。",
        "Do not gild the lily here.",
        "画蛇添足",
        "to spoil something by adding what is not needed",
        "Do not draw a snake.",
    ),
)


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
                "category": "Linguistic",
                "source": source,
                "term": term,
                "explication": meaning,
                "reference": reference,
                "translation": translation,
            },
            {"system": "literal", "shots": "0"},
        )
        for at, (source, reference, term, meaning, translation) in enumerate(IDIOMS)
    ]
    return campaign.campaign("Translations", form.load("translation_errors"), tasks)


def macaron_author():
    found, contexts = templates.read(MINI / "templates.yaml"), macaron.read_contexts(MINI / "contexts.csv")
    return macaron.authoring(found[:3], contexts[:2], each=1, seed=0)


def macaron_review():
    return macaron.reviewing(source.read(source.files(MINI), {}).scenarios[:3])


MADE = {
    "long_form": long_form,
    "culture_spans": culture_spans,
    "translation_errors": translation_errors,
    "macaron_author": macaron_author,
    "macaron_review": macaron_review,
}
