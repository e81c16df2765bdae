"""The pairs behind `expected/*.json`: a row of mini/ through loader, wrapping, error and report, as a build does it.

Every example is built alone, so one row more in mini/ moves none of them. `regenerate.py` writes the files,
`test_pairs.py` compares them.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from excam.error_reports.judges import report
from excam.error_reports.records import SEVERITIES, BaseSample, Sample, Severity
from excam.excam40k import datasets
from excam.excam40k.construction import generator, hard, soft, spans, wrapping
from excam.inference import Message

HERE = Path(__file__).parent
EXPECTED = HERE / "expected"
MINI = HERE.parents[1] / "mini"
SEED = 20260401  # of config.yaml

Edits = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Generated:
    """What a generator of soft errors makes of a pair, (old, new) in either text, and what it says about that."""

    type: str
    explanation: str
    instruction: Edits = ()
    output: Edits = ()
    severity: str = ""  # as it states it; empty: as it was asked
    cultural: str = "Yes"

    def answer(self, right: Sample, asked: Severity) -> str:
        """The answer in the form that Table 7 asks for, with thinking and mark-up around it."""
        said = {
            "Error Type": self.type,
            "Cultural Content": self.cultural,
            "Rule Adherence": "Only single words differ.",
            "Explanation": self.explanation,
            "Severity": self.severity or asked.capitalize(),
            "Modified Instruction": edited(right.instruction, self.instruction),
            "Modified Generated Text": edited(right.output, self.output),
        }
        held = json.dumps(said, ensure_ascii=False, indent=2)
        return f"Which words could {{change}}?\n</think>\nStep by step.\n\nOUTPUT:\n```json\n{held}\n```"


def edited(text: str, edits: Edits) -> str:
    """The text with every `old` replaced; each must occur once, otherwise the example tests nothing."""
    for old, new in edits:
        assert text.count(old) == 1, f"{old!r}: {text.count(old)} times in {text!r}"
        text = text.replace(old, new)
    return text


@dataclass(frozen=True)
class Example:
    """One base sample of mini/; where errors are soft, the two answers of a generator: a minor one, a major one."""

    dataset: str
    id: str = ""  # empty: the first row
    generated: tuple[Generated, Generated] | None = None
    reading: spans.Mode = "strict"


TRADITIONS, GOODS = "Incorrect information about traditions", "Incorrect information about goods"
VALUES, NORMS = "Misrepresentation of cultural values", "Lack of understanding of cultural norms"
CHINESE = (
    Generated(TRADITIONS, "中秋节在农历八月十五，不在七月。", output=[("八月", "七月")]),
    Generated(
        *(VALUES, "月饼是圆的，象征团圆。端午节吃粽子。", [("中秋节", "端午节")]),
        output=[("圆圆的月饼象征团圆", "方方的月饼象征分离")],
    ),
)
NORMAD = (
    Generated(
        *(TRADITIONS, "Hosts in Japan offer slippers to their guests, not sandals."),
        instruction=[("usually offers slippers", "usually offers sandals")],
        severity="Major",  # it was asked for a minor one, and that is the label
    ),
    Generated(
        *(NORMS, "The entrance hall is the genkan, and to take off one's shoes there is polite."),
        # the second is a deletion: the word before the gap is its span
        instruction=[("the genkan, before", "the tokonoma, before"), ("usually offers", "offers")],
        output=[("Yes, explanation", "No, explanation"), ("which is polite", "which is rude")],
    ),
)
NATIVQA = (
    Generated(GOODS, "Misafire dökülen kolonya limon kolonyasıdır.", output=[("limon kolonyası", "gül kolonyası")]),
    Generated(
        *(VALUES, "Kolonyayı kabul etmek kibarlık sayılır."),
        output=[("kabul etmek", "reddetmek"), ("hoş geldiniz demenin", "veda etmenin")],
    ),
)
MANGO = (
    Generated(
        *("incorrect information", "The tea of the ceremony is powdered matcha."),
        output=[("powdered matcha", "powdered ginger")],
    ),
    Generated(
        *("misrepresentation", "The host whisks a powder, and guests turn the bowl before they drink from it."),
        output=[("whisks powdered", "whisks"), ("before drinking", "after drinking")],  # first: a deletion
    ),
)
CALMQA = (
    Generated(GOODS, "The fabric that the family chooses is called aso ebi.", output=[("aso ebi", "kente")]),
    Generated(
        *("Stereotyping", "The cloth is chosen for weddings, by many families and not by all, and shows respect."),
        instruction=[("wedding guests", "funeral guests")],
        output=[("Many Nigerian", "All Nigerian"), ("respectful towards the", "an insult to the")],
    ),
)

EXAMPLES = {
    # Table 8
    "normad": Example("normad", "normad/1", NORMAD),
    "culturalbench": Example("culturalbench", "culturalbench/1"),
    # Table 9; Table 1 has a hard error from BLEnD
    "include": Example("include", "include/f30cf1e0a8c133e4"),
    "globalopinionqa": Example("globalopinionqa", "globalopinionqa/1d27f1059c40fc20"),
    "nativqa": Example("nativqa", "nativqa/turkish_tr:mini_turkish_tr_01", NATIVQA),
    "blend": Example("blend", "blend/Mi-ex-05_0"),
    "mango": Example("mango", "mango/cluster_mini_01__0", MANGO),
    # Table 10, Figures 7 and 8
    "epic": Example("epic", "epic/mini-reply-01:mini01"),
    "calmqa": Example("calmqa", "calmqa/english:mini0:English", CALMQA),
    # A script without spaces, in both readings of Appendix E
    "calmqa-chinese-strict": Example("calmqa", "calmqa/chinese:mini0:Chinese", CHINESE),
    "calmqa-chinese-paper": Example("calmqa", "calmqa/chinese:mini0:Chinese", CHINESE, "paper"),
}
# Hard errors need no words of ours.
EXAMPLES |= {name: Example(name) for name in datasets.available() if name not in EXAMPLES}


def base_of(example: Example) -> BaseSample:
    rows = _read(example.dataset)
    matches = [row for row in rows if row.id == (example.id or rows[0].id)]
    assert len(matches) == 1, f"{example.id}: {len(matches)} rows in mini/{example.dataset}"
    return matches[0]


def _read(dataset: str) -> list[BaseSample]:
    return datasets.load(dataset).read(MINI / dataset).samples()


def pairs_of(example: Example) -> list[tuple[Sample, Sample]]:
    """The right and the wrong row of every pair that a build makes of the example."""
    base, benchmark = base_of(example), datasets.load(example.dataset)
    split = {base.group or base.id: "train"}
    right = wrapping.right_samples([base], benchmark.ERRORS, benchmark.SOURCE.licence, SEED, split)
    if example.generated is None:
        wrong, dropped = hard.hard_errors(right, {base.id: base}, SEED, benchmark.MISTAKE)
    else:
        asked = zip(right, SEVERITIES, example.generated, strict=True)
        made = [soft.soft_error(row, s, said.answer(row, s), example.reading) for row, s, said in asked]
        wrong = [row for row in made if isinstance(row, Sample)]
        dropped = [row for row in made if not isinstance(row, Sample)]
    assert not dropped, dropped
    return list(zip(right, wrong, strict=True))


def content(name: str) -> str:
    """What `expected/<name>.json` should hold."""
    made = prompts() if name == "prompts" else shown(EXAMPLES[name])
    return json.dumps(made, ensure_ascii=False, indent=2) + "\n"


def shown(example: Example) -> dict[str, Any]:
    """The base sample and all pairs made of it; a report with its offsets and as models are trained to write it."""
    pairs = [{"right": _row(right), "wrong": _row(wrong)} for right, wrong in pairs_of(example)]
    return {"base": asdict(base_of(example)), "pairs": pairs}


def _row(sample: Sample) -> dict[str, Any]:
    return asdict(sample) | {"score": sample.score, "report as written": report.write(sample.report)}


def prompts() -> dict[str, Any]:
    """The conversations about the minor pair of Mango, line by line."""
    right, wrong = pairs_of(EXAMPLES["mango"])[0]
    asked = {f"soft error, {severity}": generator.messages(right, severity) for severity in SEVERITIES}
    asked["report"] = report.messages(wrong.instruction, wrong.output)
    return {name: [_lines(message) for message in messages] for name, messages in asked.items()}


def _lines(message: Message) -> dict[str, Any]:
    return {"role": message.role, "content": message.content.split("\n")}


NAMES = (*EXAMPLES, "prompts")  # of the files in `expected/`
