"""Backend seq2seq with a tiny random model of each architecture: NLLB (M2M100) and MADLAD (T5)."""

import pytest
from late import torch, transformers

from excam.config import Model
from excam.core.exceptions import ModelInvalid
from excam.inference import Generate, Message, Sampling
from excam.inference.backends import seq2seq

pytestmark = pytest.mark.variants
CHARACTERS = sorted(set("她吃醋了下雨天气很好abcdefghijklmnopqrstuvwxyz .,"))
TEXTS = ("她吃醋了。", "天气很好", "她下雨")
LANGUAGES = {"nllb": {"source": "zho_Hans", "target": "eng_Latn"}, "madlad": {"target": "en"}}
PREFIX = {"nllb": "", "madlad": "<2en> "}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {"nllb": nllb(tmp_path_factory.mktemp("nllb")), "madlad": madlad(tmp_path_factory.mktemp("madlad"))}


def nllb(folder):
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    vocabulary = {token: at for at, token in enumerate([*special, "▁", *CHARACTERS])}
    tokenizer = transformers.NllbTokenizer(vocab=vocabulary, merges=[])
    tokenizer.save_pretrained(folder)
    torch.manual_seed(1)
    sizes = {"layers": 1, "attention_heads": 2, "ffn_dim": 16}
    both = {f"{part}_{name}": size for name, size in sizes.items() for part in ("encoder", "decoder")}
    more = {"d_model": 16, "max_position_embeddings": 64, "decoder_start_token_id": 2, "init_std": 0.5}
    config = transformers.M2M100Config(vocab_size=len(tokenizer), **both, **more)
    transformers.M2M100ForConditionalGeneration(config).save_pretrained(folder)
    return folder


def madlad(folder):
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -2.0), ("<2en>", 0.0), ("<2de>", 0.0)]
    tokenizer = transformers.T5Tokenizer(vocab=[*pieces, *((character, -3.0) for character in CHARACTERS)], extra_ids=0)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<2en>"]})
    tokenizer.save_pretrained(folder)
    torch.manual_seed(1)
    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 16, "num_layers": 1, "num_heads": 2}
    more = {"decoder_start_token_id": 0, "initializer_factor": 5.0}
    config = transformers.T5Config(vocab_size=len(tokenizer), **sizes, **more)
    transformers.T5ForConditionalGeneration(config).save_pretrained(folder)
    return folder


def asked(text, system="Ignored."):
    return Generate((Message("system", system), Message("user", text)))


def answers(backend, requests, **sampling):
    completions = {}
    for batch in backend.generate(requests, Sampling(max_tokens=12, **sampling)):
        completions |= dict(batch)
    return [completions[at] for at in range(len(requests))]


@pytest.fixture(params=LANGUAGES)
def kind(request):
    return request.param


@pytest.fixture
def backend(folders, kind):
    return seq2seq.Backend(folders[kind], LANGUAGES[kind])


def test_greedy_answers_are_those_of_transformers_generate(backend, kind):
    for text, answer in zip(TEXTS, answers(backend, [asked(text) for text in TEXTS]), strict=True):
        inputs = backend.tokenizer(PREFIX[kind] + text, return_tensors="pt")
        assert backend._encode((Message("user", text),)) == inputs["input_ids"][0].tolist()
        forced = {"forced_bos_token_id": backend.start[1]} if kind == "nllb" else {}
        ids = backend.model.generate(**inputs, max_new_tokens=12 + len(forced), do_sample=False, num_beams=1, **forced)
        expected = ids[0, len(backend.start) :].tolist()
        ended = backend.end in expected
        expected = expected[: expected.index(backend.end)] if ended else expected
        assert answer.text == backend.tokenizer.decode(expected, skip_special_tokens=True)
        assert answer.finish == ("stop" if ended else "length")
        assert len(answer.logprobs) == len(expected)
        assert (answer.end_logprob is None) == (not ended)


def test_the_source_is_marked_and_the_target_is_forced(folders):
    backend = seq2seq.Backend(folders["nllb"], LANGUAGES["nllb"])
    known = backend.tokenizer.convert_ids_to_tokens
    ids = backend._encode((Message("user", "她吃醋了"),))
    assert known(ids[0]) == "zho_Hans"
    assert known(list(backend.start)) == ["</s>", "eng_Latn"]
    other = seq2seq.Backend(folders["madlad"], LANGUAGES["madlad"])
    assert other.tokenizer.convert_ids_to_tokens(other._encode((Message("user", "她"),)))[0].lstrip("▁") == "<2en>"


@pytest.mark.parametrize("mark", ["</s>", "<pad>", "<2de>", "<2en>", "eng_Latn", "zho_Hans"])
def test_a_source_holds_no_marks(backend, kind, mark):
    ids = backend._encode((Message("user", f"ab{mark}ab {mark} {mark}"),))
    controls = {token: token_id for token_id, token in backend.marks.items()}
    assert controls.keys() >= {"</s>", "<pad>", *(("<2de>", "<2en>") if kind == "madlad" else ("eng_Latn",))}
    assert backend.tokenizer.unk_token_id not in backend.marks
    begin, end = ("<2en>" if kind == "madlad" else "zho_Hans"), "</s>"
    assert [token_id for token_id in ids if token_id in backend.marks] == [controls[begin], controls[end]]
    assert (ids[0], ids[-1]) == (controls[begin], controls[end])


def test_logprobs_are_those_of_one_pass_over_source_and_answer(backend):
    answer = answers(backend, [asked(TEXTS[0])])[0]
    source = torch.tensor([backend._encode((Message("user", TEXTS[0]),))])
    ((ids, logprobs),) = backend._decode([source[0].tolist()], [None], Sampling(max_tokens=12))
    decoder_input = torch.tensor([[*backend.start, *ids[:-1]]])
    with torch.inference_mode():
        scores = backend.model(input_ids=source, decoder_input_ids=decoder_input).logits[0, len(backend.start) - 1 :]
    expected = scores.float().log_softmax(-1)[range(len(ids)), ids].tolist()
    assert logprobs == pytest.approx(expected, abs=1e-4)
    assert list(answer.logprobs) == pytest.approx(expected[: len(answer.logprobs)], abs=1e-4)


def test_a_row_does_not_depend_on_the_others_of_its_batch(backend):
    for temperature in (0.0, 1.0):
        together = answers(backend, [asked(text) for text in TEXTS], temperature=temperature)
        alone = [answers(backend, [asked(text)], temperature=temperature)[0] for text in TEXTS]
        assert [answer.text for answer in together] == [answer.text for answer in alone]


def test_a_text_that_does_not_fit_is_refused(folders):
    backend = seq2seq.Backend(folders["nllb"], LANGUAGES["nllb"])
    long, short = answers(backend, [asked("她" * 100), asked("她")])
    assert (long.finish, long.text, long.logprobs) == ("refused", "", None)
    assert short.finish in ("stop", "length")


@pytest.mark.parametrize(
    ("kind", "languages", "words"),
    [
        ("nllb", {"target": "eng_Latn"}, "expected source, target"),
        ("nllb", {"source": "zho_Hans", "target": "xx_Nope"}, "found language xx_Nope"),
        ("madlad", {"target": "qq"}, "found language qq"),
        ("madlad", {"source": "zh", "target": "en"}, "target for t5"),
    ],
)
def test_a_language_that_the_model_does_not_know_is_one_line(folders, kind, languages, words):
    with pytest.raises(ModelInvalid, match=words):
        seq2seq.Backend(folders[kind], languages)


def test_an_adapter_is_refused_and_languages_are_part_of_the_identity(folders, tmp_path):
    entry = {"folder": "x", "licence": "MIT", "backend": "seq2seq", "engine": {"target": "en"}}
    model = Model.model_validate(entry)
    with pytest.raises(ModelInvalid, match="no adapters"):
        seq2seq.open_model("madlad", model, folders["madlad"], tmp_path, "")
    assert "target" in model.answer_settings
    assert seq2seq.open_model("madlad", model, folders["madlad"], None, "id").identity == "id"
