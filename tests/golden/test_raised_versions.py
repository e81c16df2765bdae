"""A raised VERSION makes again what it changes: each of the package is in the parameters of a job that is planned."""

import re

import golden_stages
import pytest
import yaml

from excam.error_reports import judges

OTHERS = {  # what the golden experiment does not plan
    "models": {
        "engine": {"folder": "by-rule", "licence": "MIT", "backend": "vllm", "context": 8192, "gpus": 1},
        "old": {"folder": "by-rule", "licence": "MIT", "backend": "seq2seq", "context": 512, "gpus": 0},
        "labels": {"folder": "by-rule", "licence": "MIT", "backend": "classifier", "gpus": 0},
        "served": {"server": {"endpoint": "http://none/v1"}, "licence": "MIT", "backend": "openai", "gpus": 0},
        "packed": {
            "wheel": {"package": "none", "version": "1", "sha256": "0" * 64, "gguf": "none.gguf"},
            "licence": "MIT", "backend": "transformers", "context": 8192, "gpus": 0,
        },
    },
    "baselines": {"models": ["small", "engine", "labels", "served", "packed"], "judges": [name for name in judges.available() if name != "grounded"]},
    "cult_eval": {"models": ["small", "old"]},
    "construction": {"templates": "both"},
    "reader": {"files": "mini/documents/answers.jsonl", "models": ["small"]},
}  # fmt: skip
LINE = re.compile(r"^VERSION = (?!\")[^#\n]+|^\d+$", re.MULTILINE)
NUMBER = re.compile(r"(?:(\w+)\W+)?(\d+)")


@pytest.fixture(scope="module")
def uses(tmp_path_factory):
    """The rules of the jobs whose parameters hold each VERSION, by its module and, of several, its name."""
    folder = tmp_path_factory.mktemp("raised")
    golden_stages.checkout(folder)
    places: dict[str, str] = {}
    for path in sorted([*(folder / "excam").rglob("*.py"), *(folder / "excam").rglob("version.txt")]):

        def raised(number: re.Match[str], module: str = path.relative_to(folder / "excam").as_posix()) -> str:
            places[new := str(7001 + len(places))] = f"{module} {number[1] or ''}".removesuffix("VERSION").strip()
            return number[0].removesuffix(number[2]) + new

        text = path.read_text(encoding="utf-8")
        path.write_text(LINE.sub(lambda line, put=raised: NUMBER.sub(put, line[0]), text), encoding="utf-8")
    (folder / "others.yaml").write_text(yaml.safe_dump(OTHERS))
    jobs = golden_stages.planned(folder, "others.yaml", targets=(*golden_stages.TARGETS, "reader"))
    return {
        place: {job["rule"] for job in jobs if re.search(rf"\b{number}\b", job["params"])}
        for number, place in places.items()
    }


def test_a_job_uses_every_version(uses):
    assert len(uses) > 40
    unused = [place for place, rules in uses.items() if not rules]
    assert unused == [f"error_reports/judges/grounded.py {part}" for part in ("asks", "reads")], "no stage asks it"


@pytest.mark.parametrize(
    ("place", "rules"),
    [
        ("acre/asks.py", {"cult_eval_judge"}),
        ("rubric/asks.py", {"rubric_rate", "rubric_settle"}),
        ("calmqa/asks.py relevance", {"calmqa_judge", "calmqa_relevance", "crossing_score"}),
        ("error_reports/judges/count.py asks", {"judge"}),
        ("error_reports/judges/count.py reads", {"score"}),
    ],
)
def test_rules_that_use_a_version(uses, place, rules):
    """And no others: a reader trains no adapter, a parser asks nothing."""
    assert uses[place] == rules
