"""Our miniature of Macaron, read once: its templates and contexts, its scenarios and their instances."""

from pathlib import Path
from zlib import crc32

from excam.macaron import contexts, derive, source, templates
from excam.macaron.asks import Answered

MINI = Path(__file__).parents[2] / "mini/macaron"
TEMPLATES = templates.read(MINI / "templates.yaml")
CONTEXTS = contexts.read_contexts(MINI / "contexts.csv")
BUILT = source.read(source.files(MINI), {})
INSTANCES = derive.instances(BUILT.scenarios, seed=1)


def _answers(tenths):
    """Return the answers of a model that is right so many times in ten, by instance."""
    drawn = {instance.id: crc32(instance.id.encode()) % 10 for instance in INSTANCES}
    wrong = {i.id: next(letter for letter in i.valid if letter != i.gold) for i in INSTANCES}
    texts = [i.gold if drawn[i.id] < tenths(i) else wrong[i.id] for i in INSTANCES]
    return [Answered(text, None, "text") for text in texts]


ANSWERS = {  # of two models that we made up
    "better-in-english": _answers(lambda instance: 8 if instance.lang == "EN" else 5),
    "says-yes": _answers(lambda instance: {"MC": 6, "T": 10, "F": 2}[instance.format]),
}
