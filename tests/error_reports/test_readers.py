"""Readers by classifiers, with tiny random models of the real classes: what they read, and what follows."""

import json
import shutil
from dataclasses import replace

import pytest
from excam_commands import excam, succeed
from json_lines import write_rows
from late import torch, transformers
from one_line_errors import line_of
from test_grounded import completion, drive
from test_judges import SAMPLE
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from excam.core.exceptions import ModelInvalid
from excam.error_reports import readers
from excam.error_reports.judges import grounded
from excam.error_reports.metrics import ErrorReports
from excam.error_reports.readers import chat, token_marks, yes_no
from excam.error_reports.readers.base import ModelFacts, Task, halves, of_parts
from excam.inference import Choice
from excam.inference.backends import classifier
from excam.knowledge import index as packs
from excam.knowledge.passages import Passage
from excam.scoring import models as scoring_models
from excam.scoring.metric import Row, Setup

NLI = ("contradiction", "ENTAILMENT", "Neutral")
SIZES = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
ROWS = [
    {"id": "1", "instruction": "Who leads the toasts at a Georgian feast?", "output": "The tamada leads them."},
    {"id": "2", "instruction": "Who leads the toasts at a Georgian feast?", "output": "The host."},
    {"id": "3", "instruction": "Write of feasts in Georgia.", "output": "At a Georgian feast the host leads toasts."},
]


def characters(folder, pair=True):
    """A tokenizer of one sign a token, which marks a pair as BERT does, or one text as T5."""
    signs = ["[PAD]", "[CLS]", "[SEP]", "</s>", "[UNK]", *map(chr, range(32, 127))]
    raw = Tokenizer(models.WordLevel({sign: at for at, sign in enumerate(signs)}, unk_token="[UNK]"))
    raw.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    single, double = ("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1") if pair else ("$A </s>", "$A </s> $B </s>")
    special = [(sign, signs.index(sign)) for sign in ("[CLS]", "[SEP]", "</s>")]
    raw.post_processor = processors.TemplateProcessing(single=single, pair=double, special_tokens=special)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw,
        pad_token="[PAD]",
        sep_token="[SEP]",
        cls_token="[CLS]",
        eos_token="</s>",
        unk_token="[UNK]",
    )
    tokenizer.save_pretrained(folder)
    return len(signs)


def bert(folder, kind, labels, positions=512):
    config = transformers.BertConfig(
        vocab_size=characters(folder), max_position_embeddings=positions, initializer_range=0.3, **SIZES,
        id2label=dict(enumerate(labels)), label2id={label: at for at, label in enumerate(labels)},
    )  # fmt: skip
    torch.manual_seed(3)
    getattr(transformers, f"BertFor{kind}")(config).save_pretrained(folder)
    return folder


def t5(folder):
    vocabulary = characters(folder, pair=False)
    config = transformers.T5Config(
        vocab_size=vocabulary, d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2, decoder_start_token_id=0,
        initializer_factor=5.0,
    )  # fmt: skip
    torch.manual_seed(1)
    transformers.T5ForConditionalGeneration(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    place = tmp_path_factory.mktemp("readers")
    return {
        "nli": bert(place / "nli", "SequenceClassification", NLI),
        "minicheck": bert(place / "MiniCheck-BERT", "SequenceClassification", ("LABEL_0", "LABEL_1")),
        "marks": bert(place / "marks", "TokenClassification", ("supported", "hallucinated"), positions=2048),
        "flan": t5(place / "MiniCheck-Flan-T5-Tiny"),
    }


@pytest.fixture(scope="module")
def pack(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pack")
    lines = (
        {"id": "feast", "title": "Supra", "text": "At a Georgian feast the tamada leads the toasts. He is chosen."},
        {"id": "soup", "title": "Soup", "text": "A cold soup of the summer is made of beets."},
    )
    documents = write_rows(folder / "documents.jsonl", lines)
    succeed("knowledge", "build", documents, "--licence", "mine", "--to", folder / "pack")
    return folder / "pack"


def opened(folder):
    return readers.of(readers.facts_of(scoring_models.open_model(folder)))


def results(done):
    """Return the rows; processors differ in the last digits of a number by the rows that they compute together."""
    lines = (line for line in done.stdout.splitlines() if line.startswith("{"))
    return [json.loads(line, parse_float=lambda number: round(float(number), 9)) for line in lines]


def score(folder, pack, tmp_path, rows=tuple(ROWS), *more):
    file = write_rows(tmp_path / "rows.jsonl", rows)
    return ("score", file, "--judge", "grounded", "--evidence", pack, "--model", folder, *more)


KINDS = {
    "nli": "sequence-labels.1",
    "minicheck": "sequence-labels.1:minicheck",
    "marks": "token-marks.1",
    "flan": "flan.1",
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_classifier_judges_with_documents_alone_as_beside_other_rows(folders, pack, tmp_path, kind):
    beside = results(excam(*score(folders[kind], pack, tmp_path)))
    assert f"|reader:{KINDS[kind]}" in beside[0]["signature"]
    assert "|dtype:float32|engine:classifier|" in beside[0]["signature"]
    assert all(row["parts"]["compared"].startswith("supported 0.") for row in beside)
    assert [row for alone in ROWS for row in results(excam(*score(folders[kind], pack, tmp_path, [alone])))] == beside


@pytest.mark.parametrize("kind", ["nli", "marks"])
def test_a_classifier_is_qualified_as_any_reader(folders, pack, tmp_path, kind):
    file = tmp_path / "qualified.json"
    done = succeed("qualify", "--model", folders[kind], "--minutes", "0", "--to", file)
    assert "8 rows are too few to fit anything" in done.stderr
    kept = json.loads(file.read_text())
    assert (kept["reader"], kept["way"], kept["rows"]) == (KINDS[kind], None, 8)
    words = score(folders[kind], pack, tmp_path)
    assert "of 8 rows, on which this model was no better than a guess" in refusal(*words, "--qualified", file)
    file.write_text(json.dumps(kept | {"way": {"least": 0.5, "slopes": {"de": 1.0}}}))
    known, unknown = results(excam(*score(folders[kind], pack, tmp_path, [ROWS[0] | {"language": "German"}, ROWS[1]], "--qualified", file)))  # fmt: skip
    assert "not measured" not in known["parts"].get("because", "")
    assert unknown["parts"]["because"] == "this judge was not measured in English"


def test_a_claim_without_a_question_is_read_without_the_stand_in_for_one(folders, pack):
    metric = (
        ErrorReports()
        .lacking(["instruction"])
        .prepared(Setup(scoring_models.open_model(folders["marks"]), packs.open_index(pack), "grounded"))
    )
    row = Row("1", metric.stand_ins | {"output": "At a Georgian feast the host leads the toasts."}, {})
    (request,) = next(metric.flow(row))
    assert request.messages[0].content.startswith("Summarize the following text:\npassage 1: Supra: At a Georgian")


def test_a_number_format_is_a_choice_that_the_signature_names(folders, pack, tmp_path):
    (row,) = results(excam(*score(folders["nli"], pack, tmp_path, ROWS[:1], "--dtype", "bfloat16")))
    assert "|dtype:bfloat16|" in row["signature"]


TASK = Task("Who leads?", "The host.", ("Supra: The tamada leads.", "Soup: Beets.</s>[SEP]"))
READ = {
    "nli": "[CLS]Supra: The tamada leads.[SEP]Who leads? The host.[SEP]",
    "minicheck": "[CLS]Supra: The tamada leads.</s>Who leads? The host.[SEP]",
    "flan": "predict: Supra: The tamada leads.</s>Who leads? The host.</s>",
    "marks": "[CLS]Briefly answer the following question:\nWho leads?\nBear in mind that your response should be strictly "
    "based on the following 2 passages:\npassage 1: Supra: The tamada leads.\npassage 2: Soup: Beets.(/s>(SEP]\nIn case "
    'the passages do not contain the necessary information to answer the question, please reply with: "Unable to answer '
    'based on given passages."\noutput:[SEP]The host.[SEP]',
}


@pytest.mark.parametrize("kind", READ)
def test_a_model_gets_exactly_the_text_that_it_was_trained_on(folders, kind):
    backend = classifier.Backend(folders[kind])
    request, *others = next(opened(folders[kind]).read(TASK))
    read = "".join(backend.tokenizer.convert_ids_to_tokens(backend._encode(request)["input_ids"]))
    assert read.replace("[UNK]", "\n") == READ[kind]
    assert len(others) == (kind != "marks"), "one request for each passage, or one for all"


def test_labels_are_known_by_their_names_and_passages_by_what_they_say():
    reader = readers.of(ModelFacts(("m",), "XForSequenceClassification", NLI, writes=False))
    logprobs = {"Supra": (-3.0, -0.1, -3.0), "Soup:": (-3.0, -3.0, -0.1)}
    reading, _ = drive(reader.read(TASK), lambda asked: Choice(logprobs[asked.messages[0].content[:5]], (1, 1, 1), 9))
    assert (reading.passages, reading.supported > 0.9, reading.contradicted < 0.1) == ((0,), True, True)


@pytest.mark.parametrize(
    ("supported", "contradicted", "expected"),
    [
        ([(0.9, 0), (0.1, 1)], [], (0.9, 0.1, (0,))),  # what one passage supports, whatever the other lacks
        ([(0.9, 0), (0.1, 1)], [(0.05, 0), (0.4, 1)], (0.9, 0.05, (0,))),
        ([(0.2, 0), (0.1, 1)], [(0.05, 0), (0.8, 1)], (0.1, 0.8, (1,))),
        ([(0.9, 0), (0.1, 1)], [(0.05, 0), (0.8, 1)], (0.0, 0.0, (0, 1))),  # they disagree
    ],
)
def test_one_passage_decides(supported, contradicted, expected):
    reading = of_parts(supported, contradicted)
    assert (reading.supported, pytest.approx(reading.contradicted), reading.passages) == expected


def test_what_does_not_fit_is_read_in_windows_between_sentences(folders):
    passage = " ".join(f"Sentence {number} of a long document is here." for number in range(40))
    backend = classifier.Backend(folders["nli"])

    def answer(request):
        return dict(next(backend.choose([request])))[0]

    short = Task("", "A short claim.", (passage,), is_sentence=True)
    reading, asked = drive(opened(folders["nli"]).read(short), answer)
    assert not reading.because
    parts = [text for request in asked if len(text := request.messages[0].content) < 500]
    assert " ".join(parts) == passage
    assert all(part.startswith("Sentence") for part in parts)
    whole, _ = drive(opened(folders["nli"]).read(Task("", passage, ("A passage.",), is_sentence=True)), answer)
    assert whole.because == "longer than the model reads"


def test_a_word_is_supported_if_any_part_of_the_passages_supports_it():
    def answer(request):
        fits = "1 passages" in request.messages[0].content
        first = "tamada" in request.messages[0].content
        return Choice((-0.1, -2.0 if first else -0.01), (1, 1), 9) if fits else Choice(None, None, 9)

    reading, _ = drive(token_marks.TokenMarks().read(TASK), answer)
    assert [(mark.start, mark.end, round(mark.unsupported, 2)) for mark in reading.marks] == [(0, 3, 0.1), (4, 8, 0.01)]
    assert halves("One. Two. Three.") == ("One. Two.", "Three.")
    assert halves("word") == ()


def test_marked_words_are_the_error():
    evidence = [Passage("p", "Supra", "Who leads the toasts at a Georgian feast? The tamada.", licence="x")]
    sample = replace(SAMPLE, instruction=ROWS[1]["instruction"], output="The host.")
    flow = grounded.judge(sample, lambda *_: evidence, None, token_marks.TokenMarks())
    verdict, _ = drive(flow, lambda _: Choice((-0.01, -4.0), (1, 1), 9))
    assert verdict.report.errors[0].span == "host"
    assert verdict.report.explanation == "Not supported by the evidence (p)."


CHOSEN = [
    (ModelFacts(("Qwen2.5-Coder-1.5B-Instruct",), "Qwen2ForCausalLM"), "chat.2|closed.3+likelihoods"),
    (ModelFacts(("smollm2-135m",), "LlamaForCausalLM"), "chat.2|closed.3"),
    (ModelFacts(("gemma3",), "Gemma3ForConditionalGeneration"), "chat.2|closed.3"),
    (ModelFacts(("bespoke-minicheck:7b",)), "yes-no.1:minicheck"),
    (ModelFacts(("a", "me/MiniCheck-Flan-T5-Large"), "T5ForConditionalGeneration", writes=False), "flan.1:minicheck"),
    (ModelFacts(("h",), "BertForSequenceClassification", ("not_entailment", "entailment"), False), "sequence-labels.1"),
    (ModelFacts(("lettuce",), "ModernBertForTokenClassification", ("LABEL_0", "LABEL_1"), False), "token-marks.1"),
]


@pytest.mark.parametrize(("facts", "signature"), CHOSEN)
def test_a_reader_is_chosen_by_what_a_model_is(facts, signature):
    assert readers.of(facts).signature.startswith(signature)
    fitting = [name for name in readers.available() if readers.load(name).reader(facts)]
    assert len(fitting) == 1, "no model is of two kinds"


def test_the_form_of_minicheck_at_a_server():
    system, asked = next(yes_no.YesNo().read(TASK))[0].messages
    start = "Determine whether the provided claim is consistent with the corresponding document."
    assert system.content.startswith(start)
    assert asked.content == ("Document: Supra: The tamada leads. Soup: Beets.</s>[SEP]\nClaim: Who leads? The host.")


def test_a_model_without_weights_of_the_comparison_decides_by_values_and_says_why():
    reading, asked = drive(readers.of(CHOSEN[1][0]).read(TASK), lambda _: completion("Tamada [1]"))
    assert (reading.margin, reading.because, len(asked)) == (None, chat.UNQUALIFIED, 1)


@pytest.mark.parametrize(
    ("architecture", "labels", "words"),
    [
        ("BertForSequenceClassification", ("LABEL_0", "LABEL_1"), "m: found labels LABEL_0, LABEL_1; "),
        ("BertForSequenceClassification", ("neutral", "entailment"), "expected entailment, neutral and"),
        ("BertForTokenClassification", ("PER", "O"), "m: found labels PER, O; expected supported or"),
        ("T5ForConditionalGeneration", (), "m: found T5ForConditionalGeneration; expected MiniCheck"),
    ],
)
def test_a_model_that_reads_otherwise_is_refused_in_one_line(architecture, labels, words):
    assert words in line_of(ModelInvalid, readers.of, ModelFacts(("m",), architecture, labels, writes=False))


def refusal(*words):
    done = excam(*words)
    assert done.exit_code == 2, done.output
    return done.stderr.splitlines()[-1]


def test_what_a_classifier_cannot_do_is_refused_in_one_line(folders, pack, tmp_path):
    folder = folders["nli"]
    words = score(folder, pack, tmp_path)
    assert "--evidence: missing; a reader of kind sequence-labels reads passages" in refusal(*words[:4], *words[6:])
    assert "--backend: found vllm for nli, which writes nothing" in refusal(*words, "--backend", "vllm")
    assert "--dtype: found int8; expected float32, bfloat16, float16" in refusal(*words, "--dtype", "int8")
    assert "which classifies and writes nothing" in refusal("score", words[1], "--model", folder)
    pickled = shutil.copytree(folder, tmp_path / "pickled")
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    line = refusal(*words[:-1], pickled)
    assert "found pytorch_model.bin, which may hold code, and no *.safetensors; " in line
    assert line.endswith("save it again as safetensors (`save_pretrained`)")
    headless = bert(tmp_path / "headless", "MaskedLM", NLI)
    settings = json.loads((headless / "config.json").read_text()) | {"architectures": ["BertForSequenceClassification"]}
    (headless / "config.json").write_text(json.dumps(settings))
    assert "no weights of " in refusal(*words[:-1], headless)
