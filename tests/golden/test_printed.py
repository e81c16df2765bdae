"""The paper's own examples and prompts, read from its text beside the repository, against what we make.

A printed cell is divided into its contents (role, context, question, options, letter, answer); with these contents as
values, some combination of our paraphrases must give the same frame: the same parts in the same order, quoted and
punctuated alike.
"""

import csv
import json
import re
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from string import ascii_uppercase

import pytest
from printed_tables import SEEDS, TAG, after, paper, plain, spaced, table

from excam.annotation import form
from excam.error_reports.judges import binary, count, report, severity
from excam.error_reports.records import SEVERITIES, BaseSample, Report, Sample
from excam.excam40k import datasets
from excam.excam40k.construction import generator, hard, soft, spans, wrapping
from excam.excam40k.construction.templates import names, paraphrase, printed_in_paper
from excam.excam40k.datasets.base import Errors

pytestmark = pytest.mark.skipif(not SEEDS.is_dir(), reason="no papers here")

ROWS = {  # benchmark -> table, row, task
    "normad": (8, "Normad", "impersonation"),
    "culturalbench": (8, "Cultural Bench", "qa"),
    "include": (9, "IB44", "qa"),
    "globalopinionqa": (9, "global opinions", "impersonation"),
    "nativqa": (9, "MNQA", "freeform"),
    "blend": (9, "BLEnD", "qa"),
    "mango": (9, "Mango", "generation"),
    "epic": (10, "EPIC", "impersonation"),
    "calmqa": (10, "CaLMQA", "freeform"),
}
PARTS = {  # the contents of an instruction; the text between them is a paraphrase's
    "qa": r"[^']+'(?P<question>.+)'[^']*?(?P<options>Option A: .+)",
    "freeform": r"[^']+'(?P<question>.+)'\W*",
    "generation": r"[^']+'(?P<question>.+)'\W*",
    "impersonation": r"[^:]+: (?P<role>.+?) Context: '(?P<context>.+?)' Task content: '(?P<question>.+)'\W*",
}
# Slips of the typesetting, put right before an instruction is divided: (pattern, instead, where it is printed so).
SLIPS = (
    (r"(?<!') Task content: '", "' Task content: '", {"normad"}),  # the context's quote is never closed
    (r"Context: ' ", "Context: '", {"normad"}),  # a space after the opening quote
    (r"\?\.'$", "?'", {"calmqa"}),  # a full stop after the question mark, inside the quotes
    (r"(?<=\?)'\.(?= |$)", "'", {"culturalbench", "nativqa", "blend"}),  # one after a question in quotes
    (r"(?<!\.) Context: '", ". Context: '", {"normad", "globalopinionqa"}),  # none after the role
    (r"(?<![.:]) Option (?=[B-Z]:)", "; Option ", {"include", "blend"}),  # nothing; Table 1 has semicolons
)
# Printed forms that ours equal but for the mark at the very end of the instruction.
OTHER_END = {"globalopinionqa"}


def mended(text: str) -> str:
    for pattern, instead, _ in SLIPS:
        text = re.sub(pattern, instead, text)
    return text


@cache
def printed(name: str) -> tuple[BaseSample, str, str]:
    """The contents of a printed example as a base sample, its instruction and its output."""
    number, row, task = ROWS[name]
    instruction, output = map(plain, table(number)[row])
    return contents(name, task, mended(instruction), output), mended(instruction), output


def contents(name: str, task: str, instruction: str, output: str) -> BaseSample:
    match = re.fullmatch(PARTS[task], instruction)
    assert match, f"{name}: another form: {instruction}"
    parts = match.groupdict()
    if name in ("normad", "globalopinionqa"):  # the full stop is the wrapping's
        parts["role"] = parts["role"].removesuffix(".")
    options = tuple(re.split(r";? ?Option [A-Z]: ", parts.pop("options", ""))[1:])
    answer = output if task == "generation" else output.partition(": ")[2]
    if task == "qa":
        (answer,) = {option for option in options if output.endswith(option)}
    assert answer, f"{name}: no answer in {output}"
    known = {"language": "English", "culture": "Nowhere", "stratum": "Nowhere", "wrong": options[1:]}
    return BaseSample(f"{name}/printed", name, task, answer=answer, options=options, **parts, **known)


def values(base: BaseSample, text: str) -> list[tuple[str, str]]:
    """The contents in the order in which the paper prints them."""
    fields = [(part, getattr(base, part)) for part in ("role", "context", "question") if getattr(base, part)]
    return [*fields, ("options", text[text.index("Option A: ") :])] if base.options else fields


def lead_in(base: BaseSample) -> list[tuple[str, str]]:
    letter = [("letter", ascii_uppercase[base.options.index(base.answer)])] if base.options else []
    return [*letter, ("answer", base.answer)]


def frame(text: str, fields: list[tuple[str, str]]) -> str:
    """The text with its contents named, in this order, and every run of other words as three dots."""
    parts = []
    for name, value in fields:
        whole = re.search(r"(?<!\w)" * value[0].isalnum() + re.escape(value) + r"(?!\w)" * value[-1].isalnum(), text)
        assert whole, f"no {name} {value!r} in what is left: {text!r}"
        parts += [dots(text[: whole.start()]), f"<{name}>"]
        text = text[whole.end() :]
    return "".join([*parts, dots(text)])


def dots(text: str) -> str:
    return re.sub(r"[\w()/-]+(?: [\w()/-]+)*", "…", text)


def ours(base: BaseSample) -> tuple[dict[str, str], dict[str, str]]:
    """Frame -> text, of all instructions and all outputs that our paraphrases give for these contents.

    Options are shuffled; a seed that leaves them in the printed order is looked for.
    """
    seed = unshuffled(base)
    right = right_of(base, "hard", seed)
    variant = right.pair.removeprefix(f"{base.id}/")
    slots = [one_of_each_frame(name.rpartition("/")[0]) for name in right.templates]
    made = [wrapping.render(base, base.answer, variant, chosen, seed) for chosen in product(*slots)]
    asked = {frame(instruction, values(base, instruction)): instruction for instruction, _ in made}
    outputs = {frame(output, lead_in(base)): output for _, output in made}
    return asked, outputs


def unshuffled(base: BaseSample) -> int:
    return next(seed for seed in range(2000) if wrapping.shuffled_options(base, seed) == base.options)


def one_of_each_frame(slot: str) -> list[str]:
    return list({dots(paraphrase(name)): name for name in names(slot)}.values())


def right_of(base: BaseSample, errors: Errors, seed: int, output: str = "") -> Sample:
    """The first right row of a base sample; with the output paraphrase of these words, where there are any."""
    right = wrapping.right_samples([base], errors, "MIT", seed, {base.id: "train"})[0]
    last = next((name for name in names(f"{base.task}/output") if paraphrase(name) == output), right.templates[-1])
    templates = (*right.templates[:-1], last)
    made = wrapping.render(base, base.answer, right.pair.removeprefix(f"{base.id}/"), templates, seed)
    return replace(right, templates=templates, instruction=made[0], output=made[1])


@pytest.mark.parametrize("name", ROWS)
def test_a_printed_example_has_a_frame_of_ours(name):
    base, instruction, output = printed(name)
    asked, outputs = ours(base)
    wanted = frame(instruction, values(base, instruction))
    assert (wanted not in asked) == (name in OTHER_END), f"{wanted}: ours are {sorted(asked)}"
    alike = {held.rstrip(".:"): text for held, text in asked.items()}
    assert wanted.rstrip(".:") in alike, f"{wanted}: ours are {sorted(asked)}"
    assert frame(output, lead_in(base)) in outputs, f"{output}: ours are {sorted(outputs)}"
    for text in alike.values():
        assert values(base, text) == values(base, instruction), "the contents are the printed ones, to the letter"


@pytest.mark.parametrize("name", ROWS)
def test_a_printed_example_is_made_of_the_paraphrases_that_are_marked_so(name):
    """Word for word, with the ones marked with its table; but for an end that differs."""
    base, instruction, output = printed(name)
    seed = unshuffled(base)
    right = right_of(base, "hard", seed)
    slots = [template.rpartition("/")[0] for template in right.templates]
    marked = [[n for n in names(slot) if printed_in_paper(n).startswith("Table")] for slot in slots]
    marked = [paraphrases or names(slot) for paraphrases, slot in zip(marked, slots, strict=True)]
    variant = right.pair.removeprefix(f"{base.id}/")
    made = [wrapping.render(base, base.answer, variant, chosen, seed) for chosen in product(*marked)]
    assert instruction.rstrip(".") in {text.rstrip(".") for text, _ in made}
    assert output in {text for _, text in made}


def test_slips_are_printed_only_where_we_know_of_them():
    for pattern, _, where in SLIPS:
        texts = {name: plain(table(number)[row][0]) for name, (number, row, _) in ROWS.items()}
        assert {name for name, text in texts.items() if re.search(pattern, text)} == where


def test_table_8_to_10_have_one_example_of_every_benchmark():
    assert set(ROWS) == set(datasets.available())
    assert sorted(row for number in (8, 9, 10) for row in table(number)) == sorted(row for _, row, _ in ROWS.values())


def test_table_1_a_soft_error_is_in_a_freeform_pair():
    instruction, output = map(plain, table(1)["Soft"])
    base = contents("table 1", "freeform", instruction, output)
    asked, outputs = ours(base)
    assert frame(instruction, values(base, instruction)) in asked
    assert frame(output, lead_in(base)) in outputs


def test_table_1_a_hard_error_is_a_wrong_option():
    """The list is cut there ("[...]", semicolons between), and the question has no quotes, unlike in Tables 8 and 9."""
    instruction, output = map(plain, table(1)["Hard"])
    question, _, listed = re.fullmatch(r"([^']+\?) ([^:?]+): (Option A: .+)", instruction).groups()
    shown = dict(re.findall(r"Option ([A-D]): ([^;]+)", listed))
    (wrong,) = (option for letter, option in shown.items() if output == f"Option {letter}: {option}")
    (answer,) = {*shown.values()} - {wrong}
    options = tuple(shown.get(letter, f"left out {letter}") for letter in "ABCD")
    base = replace(printed("blend")[0], question=question, answer=answer, options=options, wrong=(wrong,))
    seed = unshuffled(base)
    made = hard.hard_error(right_of(base, "hard", seed, "Option {letter}: {answer}"), base, wrong, seed)
    assert (made.output, made.score) == (output, -5)
    (error,) = made.report.errors
    assert (error.where, error.span, output[error.start : error.end]) == ("output", wrong, wrong)
    assert (error.severity, made.report.explanation.count(answer)) == ("major", 1)
    assert all(f"Option {letter}: {option}" in made.instruction for letter, option in shown.items())


@cache
def figure_7() -> tuple[Sample, str, list[str]]:
    """The right pair that the figure shows, its modified output, and what is highlighted there."""
    asked = plain(after("A. Original Source Instruction"))
    output = plain(after("B. Original Generated Text / Ground Truth"))
    modified = plain(after("D. Modified Generated Text"))
    assert plain(after("C. Modified Source Instruction")) == asked
    base = contents("figure 7", "freeform", asked, output)
    right = replace(right_of(base, "soft", 0), instruction=asked, output=output)
    return right, modified.replace("**", ""), re.findall(r"\*\*(.+?)\*\*", modified)


@pytest.mark.parametrize("mode", ["paper", "strict"])
def test_figure_7_the_highlighted_words_are_our_spans(mode):
    right, modified, highlighted = figure_7()
    assert len(highlighted) == 2
    assert [span.text for span in spans.diff_spans(right.output, modified, mode).spans] == highlighted


def test_figure_7_the_pair_has_a_frame_of_ours():
    right, _, _ = figure_7()
    base = contents("figure 7", "freeform", right.instruction, right.output)
    asked, outputs = ours(base)
    wanted = frame(right.instruction, values(base, right.instruction))
    assert wanted not in asked, "it ends in a colon, as no other printed example does"
    assert wanted.removesuffix(":") in asked
    assert frame(right.output, lead_in(base)) in outputs


@pytest.mark.parametrize("mode", ["paper", "strict"])
def test_figure_8_one_explanation_severity_and_type_for_all_spans(mode):
    right, modified, highlighted = figure_7()
    explanation, stated, kind = map(after, ("Explanation", "Provided severity", "Provided error type"))
    said = dict.fromkeys(generator.KEYS, "Yes") | {
        "Error Type": kind, "Explanation": explanation, "Severity": stated, "Modified Instruction": right.instruction,
        "Modified Generated Text": modified,
    }  # fmt: skip
    made = soft.soft_error(right, "major", f"OUTPUT: {json.dumps(said)}", mode)
    assert isinstance(made, Sample)
    assert [(error.where, error.span) for error in made.report.errors] == [("output", span) for span in highlighted]
    assert {(error.severity, error.type) for error in made.report.errors} == {(stated.lower(), kind)}
    assert (made.report.explanation, made.score, made.instruction) == (explanation, -10, right.instruction)
    read = report.read(report.write(made.report))
    assert isinstance(read, Report)
    assert report.locate(read, made.instruction, made.output) == made.report


def test_figures_5_to_9_ask_as_the_form_does():
    """But for two labels of a tick box, which ours shorten, and three headings."""
    words = plain(paper()).replace("**", "")
    questions = form.load("soft_errors").questions
    assert [len(question.values) for question in questions] == [3, 2, 5, 0, 1, 1, 4, 3, 0, 6, 6]
    shortened = {"The severity is reasonable", "The error type is reasonable"}
    labels = {label for question in questions for label in question.values.values()} - shortened
    assert [label for label in labels if plain(label) not in words] == []
    page = (Path(form.__file__).parent / "forms/soft_errors.html").read_text(encoding="utf-8")
    assert TAG.sub("", re.search(r'class="proxies">(.+)</p>', page)[1]) in words
    headings = re.findall(r"<h\d[^>]*>(?:<\w+[^>]*>)*(\d.+?)</h\d>", page)
    assert [plain(TAG.sub("", heading)) in words for heading in headings] == [True] * 4 + [False] * 3 + [True]


def test_table_5_asks_for_the_report():
    held = table(5)
    assert [held["System Prompt"][0], held["Report Style"][0]] == [report.SYSTEM, report.USER]
    system, user = report.messages("<the instruction>", "<the text>")
    assert (system.role, system.content) == ("system", held["System Prompt"][0])
    filled = held["Report Style"][0].replace("{Instruction}", "<the instruction>").replace("{Text}", "<the text>")
    assert (user.role, user.content) == ("user", filled)


@pytest.mark.parametrize("asked", SEVERITIES)
def test_table_7_asks_for_a_soft_error(asked):
    held = table(7)
    assert spaced(generator.PROMPT) == held["Main Prompt"][0]
    right, _, _ = figure_7()
    filled = held["Main Prompt"][0].replace("{MINOR/MAJOR}", held[asked.upper()][0])
    filled = filled.replace("{src}", right.instruction).replace("{gt}", right.output)
    (message,) = generator.messages(right, asked)
    assert (message.role, spaced(message.content)) == ("user", filled)
    assert re.findall(r'"([A-Z][A-Za-z ]+)": "', held["Main Prompt"][0]) == list(generator.KEYS)


@pytest.mark.parametrize(("judge", "row"), [(count, "Counting"), (severity, "Severity"), (binary, "Binary")])
def test_table_11_asks_for_the_baselines(judge, row):
    assert table(11)[row] == (judge.PROMPT,)


def official(name: str) -> tuple[str, dict[str, str | int]]:
    """The file and the row of the official release that a printed example would come from."""
    base, _, _ = printed(name)
    place = base.options.index(base.answer) if base.options else 0
    lettered = dict(zip("abcd", base.options, strict=False))
    if name == "normad":
        verdict, explanation = base.answer.split(", explanation: ")
        said = {"Story": base.question, "Explanation": explanation, "Gold Label": verdict.lower(), "ID": 1}
        said |= {"Country": base.role.removeprefix("Nation: ").lower(), "Rule-of-Thumb": "Greet everyone."}
        said["Background"] = f" {base.context}"
        return "normad_etiquette_final_data.csv", said
    if name == "culturalbench":
        options = {f"prompt_option_{letter}": option for letter, option in lettered.items()}
        said = {"question_idx": 1, "prompt_question": base.question, "answer": "ABCD"[place], "country": "Hong Kong"}
        return "CulturalBench-Easy.csv", said | options
    if name == "include":
        options = {f"option_{letter}": option for letter, option in lettered.items()}
        said = {"language": "Chinese", "country": "China", "regional_feature": "culture", "answer": place}
        return "Chinese/test.jsonl", said | options | {"question": base.question}
    if name == "globalopinionqa":
        country = base.role.removeprefix("Location (country): ")
        shares = f"defaultdict(<class 'list'>, {{'{country}': [0.7, 0.3]}})"
        return "global_opinions.csv", {"question": base.question, "selections": shares, "options": "['Yes', 'No']"}
    if name == "nativqa":
        return "turkish_tr/NativQA_tr.jsonl", {"data_id": "1", "question": base.question, "answer": base.answer}
    if name == "blend":
        said = {"MCQID": "1", "ID": "1", "country": "Greece", "answer_idx": "ABCD"[place]}
        said["choices"] = json.dumps(dict(zip("ABCD", base.options, strict=True)))
        return "mc_questions.csv", said | {"prompt": f"{base.question} Without any explanation, choose only one."}
    if name == "mango":
        concept, culture = re.fullmatch(r"(.+) in (\w+) culture", base.question).groups()
        return "mango.jsonl", {"id": "1", "concept": concept, "culture": culture, "assertion": base.answer}
    if name == "epic":
        columns = ("Age", "Sex", "Ethnicity simplified", "Nationality", "Language_annotator")
        said = dict(zip(columns, re.findall(r"= ?([^;]+?)(?:;|\.$)", base.role), strict=True))
        said |= {"user": "1", "id_original": "1", "label": "iro", "parent_text": base.context}
        return "EPICorpus.csv", said | {"text": base.question.partition(": ")[2]}
    return "train.jsonl", {"language": "German", "question": base.question, "answer": base.answer}


@pytest.mark.parametrize("name", ROWS)
def test_a_loader_makes_the_printed_contents_of_an_official_row(name, tmp_path):
    file, row = official(name)
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    if path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, row)
            writer.writeheader()
            writer.writerow(row)
    else:
        path.write_text(json.dumps(row), encoding="utf-8")
    how = {"balanced": 0} if name == "globalopinionqa" else {}  # one row has nothing to exchange with
    (made,) = datasets.read(name, tmp_path, how, rows="as-published").samples()
    wanted = printed(name)[0]
    for part in ("question", "answer", "role", "context"):
        assert getattr(made, part) == getattr(wanted, part)
    assert made.task == wanted.task
    assert wanted.options in ((), made.options)
