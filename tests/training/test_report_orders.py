"""Reports that state the expected answer first, permuted labels, and the weight of a verdict."""

from dataclasses import replace

import pytest
import tiny

from excam.config import Recipe
from excam.core.exceptions import InputInvalid
from excam.error_reports.judges import report
from excam.error_reports.records import CulturalError, Report, Sample
from excam.training import layout, sft, tokens, trainers


def pair():
    right = Sample(
        **{"id": "b/1/right", "pair": "b/1", "base": "b/1", "dataset": "blend", "task": "qa", "origin": "source"},
        **{"instruction": "A dish?", "output": "Moussaka.", "report": Report(), "language": "English"},
        **{"culture": "Greece", "stratum": "", "licence": "MIT", "answer": "Moussaka"},
    )
    error = CulturalError("output", "Sushi", "major", "incorrect answer", 0, 5)
    wrong = replace(right, id="b/1/wrong", output="Sushi.", origin="hard", report=Report((error,), "Not Greek."))
    return [right, wrong]


def test_explanation_first_states_the_expected_answer_in_both_rows_of_a_pair():
    right, wrong = (target for *_, target in report.training_examples(pair(), "explanation-first"))
    assert right == '{"explanation": "Expected: Moussaka.", "errors": []}'
    assert wrong.startswith('{"explanation": "Expected: Moussaka. Not Greek.", "errors": [{"where": "output", "span"')
    assert report.read(right) == Report((), "Expected: Moussaka.")
    assert report.read(wrong).errors[0].span == "Sushi"
    unchanged = [target for *_, target in report.training_examples(pair())]
    assert unchanged == [report.write(sample.report) for sample in pair()], "today's order is the default"


def test_permuted_labels_exchange_the_reports_of_half_of_the_pairs():
    samples = [replace(sample, id=f"{n}/{sample.id}", pair=f"b/{n}") for n in range(200) for sample in pair()]
    gold = [target for *_, target in report.training_examples(samples)]
    permuted = [target for *_, target in report.training_examples(samples, labels="permuted")]
    moved = [target != other for target, other in zip(gold, permuted, strict=True)]
    assert moved[::2] == moved[1::2], "both rows of a pair, or none"
    assert 70 < sum(moved[::2]) < 130
    assert sorted(gold) == sorted(permuted)


@pytest.mark.parametrize("order", ["errors-first", "explanation-first"])
def test_the_weighted_token_is_the_one_that_says_whether_there_is_an_error(order):
    tokenizer = tiny.make_tokenizer()
    rows = tokens.encode(tokenizer, report.training_examples(pair(), order))
    for (ids, place), verdict in zip(
        zip(rows["input_ids"], tokens.verdict_places(tokenizer, rows, report.VERDICT), strict=True),
        ("[]", "[{"),
        strict=True,
    ):
        assert tokenizer.decode(ids[:place]).endswith('"errors":')
        assert tokenizer.decode(ids[place:]).strip().startswith(verdict)
    with pytest.raises(InputInvalid, match=r"b/1/right: no VERDICT in its target"):
        tokens.verdict_places(tokenizer, rows, "VERDICT")


@pytest.mark.parametrize("padding", ["padded", "free"])
def test_a_weight_multiplies_the_loss_of_its_token_alone(padding, tmp_path):
    """The loss with weight w is the plain loss plus (w - 1) times that of the token, on padded and on packed rows."""
    import torch
    from transformers import AutoModelForCausalLM

    tiny.model(tmp_path / "base")
    tokenizer = tiny.make_tokenizer()
    rows = tokens.encode(tokenizer, report.training_examples(pair()))
    ordered = tokens.with_labels(rows, "report")
    places = tokens.verdict_places(tokenizer, rows, report.VERDICT)
    chosen = layout.load_layout("cpu").model_copy(update={"padding": padding, "rows_per_pass": 2})
    recipe = Recipe(rank=2, rows_per_step=2, max_length=256)
    base = AutoModelForCausalLM.from_pretrained(tmp_path / "base", dtype=torch.float32)
    arguments = sft.trainer_settings(recipe, chosen, 1, tmp_path / "checkpoints")

    def loss(weighted, only=None):
        shown = [{**row, "labels": list(row["labels"])} for row in ordered]
        for row, place in zip(shown, places, strict=True):
            if only:
                row["labels"] = [label if at == place else -100 for at, label in enumerate(row["labels"])]
        made = trainers.build_trainer(
            trainers.trainer_class(chosen), sft.with_lora(base, recipe), tokenizer, shown, chosen, arguments
        )
        if weighted:
            trainers.weigh_tokens(made, places, weighted)
        (batch,) = made.get_train_dataloader()
        return float(trainers.supervised_loss(made, made.model, batch, torch.tensor(1)))

    assert loss(1.0) == pytest.approx(loss(None), rel=1e-3)
    assert loss(5.0) == pytest.approx(loss(None) + 4 * loss(None, only=True), rel=1e-2)
