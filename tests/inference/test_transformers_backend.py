"""The transformers backend on a tiny random model, and on the embedded model if fetched."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import tiny
import tiny_checkpoints
from one_line_errors import line_of

from excam.core.exceptions import ModelInvalid
from excam.inference import Choose, Generate, Message, Sampling, chat, lora
from excam.inference.backends import _batches
from excam.inference.backends import transformers as local


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    return tiny.model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def adapter(weights, tmp_path_factory):
    return tiny.adapter(weights, tmp_path_factory.mktemp("adapter"))


@pytest.fixture
def backend(weights):
    return local.Backend(weights, dtype="float32")


def chosen(backend, asked):
    """Choices in the order of the requests."""
    return [choice for _, choice in sorted(pair for batch in backend.choose(asked) for pair in batch)]


def assert_alike(answers, others):
    """Assert equal texts, and log-probabilities that differ by 1e-4 at most."""
    for answer, other in zip(answers, others, strict=True):
        assert getattr(answer, "text", None) == getattr(other, "text", None)
        assert answer.logprobs == pytest.approx(other.logprobs, abs=1e-4)


REQUESTS = [Generate((Message("user", f"{'word ' * (at % 7)}{at}"),)) for at in range(12)]
GREEDY = Sampling(max_tokens=24)
DRAWN = Sampling(max_tokens=24, temperature=0.8, top_p=0.9, top_k=20, seed=3)


def completed(backend, requests, sampling):
    answers = {at: answer for batch in backend.generate(requests, sampling) for at, answer in batch}
    assert sorted(answers) == list(range(len(requests)))
    return [answers[at] for at in range(len(requests))]


def test_thinking_is_in_every_prompt(weights, tmp_path):
    folder = shutil.copytree(weights, tmp_path / "thinks")
    template = "{% for m in messages %}{{ m.content }}{% endfor %}{% if enable_thinking %}reasons{% endif %}"
    (folder / "chat_template.jinja").write_text(template)
    for thinking, text in ((True, "ownreasons"), (False, "own"), (None, "own")):
        backend = local.Backend(folder, dtype="float32", thinking=thinking)
        (answer,) = completed(backend, [Generate((Message("user", "own"),))], Sampling(max_tokens=1))
        assert answer.prompt_tokens == len(backend.tokenizer.encode(text, add_special_tokens=False))


def test_greedy_equals_generate_and_logprobs_a_forward_pass(weights):
    import torch

    backend = local.Backend(weights, dtype="float32", batch_tokens=400)
    answers = completed(backend, REQUESTS, GREEDY)
    assert {answer.finish for answer in answers} == {"stop", "length"}
    for request, answer in zip(REQUESTS, answers, strict=True):
        prompt = torch.tensor([chat.encode(backend.tokenizer, request.messages).input_ids])
        out = backend.model.generate(
            prompt, max_new_tokens=24, do_sample=False, eos_token_id=sorted(backend.stops), pad_token_id=0
        )
        new = out[0, prompt.shape[1] :]
        logprobs = [*answer.logprobs, *([answer.end_logprob] if answer.finish == "stop" else [])]
        assert len(logprobs) == len(new) == answer.completion_tokens
        assert answer.finish == ("stop" if int(new[-1]) in backend.stops else "length")
        assert answer.prompt_tokens == prompt.shape[1]
        kept = new[:-1] if answer.finish == "stop" else new
        assert answer.text == backend.tokenizer.decode(kept, skip_special_tokens=True)
        logits = backend.model(out).logits[0, prompt.shape[1] - 1 : -1].log_softmax(-1)
        torch.testing.assert_close(torch.tensor(logprobs), logits.gather(-1, new[:, None])[:, 0], atol=1e-4, rtol=0)


def test_a_choice_is_what_was_generated_scored_again(weights):
    backend = local.Backend(weights, dtype="float32", batch_tokens=400)
    options = ("a", "bcd e", "a longer option, of many tokens")
    asked = [Choose(request.messages, options) for request in REQUESTS]
    for request, choice in zip(REQUESTS, chosen(backend, asked), strict=True):
        for option, logprob, tokens in zip(options, choice.logprobs, choice.tokens, strict=True):
            encoded = chat.encode(backend.tokenizer, request.messages, option)
            (alone,) = backend.logprobs([encoded])
            assert tokens == len(alone) - 1
            assert logprob == pytest.approx(sum(alone[:-1]), abs=1e-4)
    assert chosen(local.Backend(weights, dtype="float32", context=20), asked[:1])[0].logprobs is None
    greedy = completed(backend, REQUESTS, GREEDY)
    kept = [(request, answer) for request, answer in zip(REQUESTS, greedy, strict=True) if answer.finish == "length"]
    assert kept
    for request, answer in kept:
        encoded = chat.encode(backend.tokenizer, request.messages, answer.text)
        if len(encoded.input_ids) - encoded.completion_start == answer.completion_tokens + 1:  # cut at the same places
            (scored,) = backend.logprobs([encoded])
            assert scored[:-1] == pytest.approx(answer.logprobs, abs=1e-3)


def test_the_prompt_of_a_choice_is_computed_once(backend, adapter):
    """All options after one pass give what each gives alone, also those of a later request with the same prompt."""
    messages = REQUESTS[0].messages
    asked = [Choose(messages, options) for options in (('{"answer": "A"}', "no"), ("A", "B"), ("no", "not that"))]
    asked.insert(1, Choose(REQUESTS[1].messages, ("A", "B")))
    passes = []
    backend.model.register_forward_hook(lambda *_: passes.append(1))
    once = chosen(backend, asked)
    assert len(passes) == 4, "two prompts, and longer options twice"
    backend.__dict__["_keeps_plain_prompt"] = False  # as for layers with a window or a state
    assert_alike(once, chosen(backend, asked))
    backend.__dict__["_keeps_plain_prompt"] = True
    backend.use(adapter, "adapter")
    tuned = chosen(backend, asked[1:])[0]
    assert tuned.logprobs != pytest.approx(once[1].logprobs, abs=1e-4), "the adapter answers, not the pass before it"


MANUAL = Message("system", "A manual of many rules. " * 4)  # more than SHORTEST_PREFIX tokens


def with_manual(requests, manual=MANUAL):
    return [replace(request, messages=(manual, *request.messages)) for request in requests]


def test_messages_before_the_last_one_are_computed_once(backend):
    """Generated and chosen answers are those without sharing, with one manual and with two in turn."""
    both = [*REQUESTS, *REQUESTS[:4]]
    asked = with_manual(both)
    other = with_manual(both, replace(MANUAL, content="Another manual. " * 8))
    several = [pair[at % 2] for at, pair in enumerate(zip(asked, other, strict=True))]
    picks = [Choose(request.messages, ("a", "bcd e")) for request in several]
    passes = []
    backend.model.register_forward_hook(lambda _, __, out: passes.append(out.logits.shape[0]))
    for each in (asked, several):
        completed(backend, each, replace(GREEDY, max_tokens=1))
    assert passes == [1, 16, 1, 8, 1, 8], "each manual, then the rows that share it"
    del passes[:]
    third = with_manual(both, replace(MANUAL, content="A third one. " * 8))
    completed(backend, [*asked[:8], *other[8:12], *third[12:]], replace(GREEDY, max_tokens=1))
    assert sorted(passes) == [1, 1, 7, 8], "four of a manual are too few for a batch of their own"
    del passes[:]
    completed(backend, [*both[:8], *third[:4]], replace(GREEDY, max_tokens=1))
    assert passes == [4, 4, 4], "they are batched with those without a manual"
    del passes[:]
    completed(backend, third[:3], replace(GREEDY, max_tokens=1))
    assert passes == [1, 3], "all of a small call"
    shared = [completed(backend, each, GREEDY) for each in (asked, several)]
    del passes[:]
    choices = chosen(backend, picks)
    of_one = [1, *[1, 1, 1] * 2, *[1, 1] * 4]
    assert passes == [*of_one, *of_one], "each manual, then each prompt with the options of its requests"
    alone = chosen(backend, [replace(each, options=each.options[1:]) for each in picks])
    second = [choice.logprobs[1] for choice in choices]
    assert [choice.logprobs[0] for choice in alone] == pytest.approx(second, abs=1e-4)
    backend.__dict__.update(_keeps_plain_prompt=False, _computes_in_parts=False)
    for each, answers in zip((asked, several), shared, strict=True):
        assert_alike(answers, completed(backend, each, GREEDY))
    assert_alike(choices, chosen(backend, picks))


def test_prompts_of_unlike_length_are_not_padded_to_the_longest(backend):
    """What all begin with is computed once; with one row at a time, which shares and pads nothing, answers are equal."""
    requests = [Generate((Message("user", f"{'Judge this text. ' * 4}{'word ' * 2 * at}"),)) for at in range(12)]
    widths = []
    note = lambda _, __, read: widths.append(read["input_ids"].shape)  # noqa: E731
    backend.model.register_forward_pre_hook(note, with_kwargs=True)
    answers = completed(backend, requests, GREEDY)
    computed = sum(rows * width for rows, width in widths if width > 1)
    assert computed < sum(answer.prompt_tokens for answer in answers)
    assert all(answer.logprobs for answer in answers), "none was refused"
    assert_alike(answers, [completed(backend, [request], GREEDY)[0] for request in requests])
    backend.__dict__["_computes_in_parts"] = False  # as where positions depend on the length of a pass
    del widths[:]
    completed(backend, requests, GREEDY)
    assert widths[0][0] == len(requests)


def test_options_are_asked_for_after_two_last_messages_in_one_pass(backend):
    passes = []
    backend.model.register_forward_hook(lambda *_: passes.append(1))
    for asked, count in ((with_manual(REQUESTS)[0], 2), (REQUESTS[0], 1)):
        del passes[:]
        (both,) = chosen(backend, [Choose(asked.messages, ("a", "bcd e"), "What?")])
        assert len(passes) == count, "the beginning of a manual, then all four"
        other = (*asked.messages[:-1], Message("user", "What?"))
        apart = chosen(backend, [Choose(messages, ("a", "bcd e")) for messages in (asked.messages, other)])
        assert both.logprobs == pytest.approx([value for choice in apart for value in choice.logprobs], abs=1e-4)
        assert both.tokens == (1, 5, 1, 5)


def test_an_answer_does_not_depend_on_what_was_asked_before(weights):
    """Also in bfloat16, where every other way of computing it rounds to other numbers."""
    backend = local.Backend(weights, dtype="bfloat16")
    kinds = ((("a", "bcd e"),), (("bcd e",),), (("bcd e",), "What?"))
    asked = [Choose(request.messages, *kind) for request in with_manual(REQUESTS) for kind in kinds]
    assert chosen(backend, asked) == [chosen(backend, [request])[0] for request in asked]


def test_a_prompt_that_leaves_too_little_room_is_refused_and_counted(backend, capsys):
    long = [Generate((Message("user", "x" * length),)) for length in (*range(215, 235), 300)]
    *answers, short = completed(backend, [*long, REQUESTS[0]], Sampling(100))
    assert {(answer.finish, answer.completion_tokens) for answer in answers} == {("refused", 0)}
    assert 0 < short.completion_tokens <= 100
    assert "21 of 22 prompts leave less than 100 of 256 tokens: they are refused" in capsys.readouterr().err


def test_without_logprobs_only_the_numbers_are_missing(backend):
    with_them, without = (completed(backend, REQUESTS, replace(DRAWN, logprobs=kept)) for kept in (True, False))
    assert [answer.completion_tokens for answer in with_them][:1] != [0]
    assert {(answer.logprobs, answer.end_logprob) for answer in without} == {(None, None)}


def test_a_merged_adapter_answers_like_one_beside_the_weights(weights, adapter):
    beside, merged = (local.Backend(weights, adapter, dtype="float32", serve=serve) for serve in ("lora", "merged"))
    assert not hasattr(merged.model, "peft_config")
    asked = [Choose(request.messages, ("a", "bcd e")) for request in REQUESTS]
    for left, right in zip(beside.choose(asked), merged.choose(asked), strict=True):
        assert left[0][1].logprobs == pytest.approx(right[0][1].logprobs, abs=1e-3)


@pytest.mark.parametrize("sampling", [GREEDY, DRAWN])
def test_an_answer_does_not_depend_on_its_batch(backend, sampling):
    together = completed(backend, REQUESTS, sampling)
    backend.batch_tokens = 1
    assert_alike(together, completed(backend, REQUESTS[::-1], sampling)[::-1])


@pytest.mark.parametrize("name", ["qwen3.5", "gemma3"])
def test_a_row_that_has_finished_leaves_layers_of_every_kind(tmp_path, name):
    """A state a row, a window, all that was read: what a batch keeps of the rows that go on is theirs."""
    backend = local.Backend(tiny_checkpoints.make(name, tmp_path / name), dtype="float32")
    backend.stops = frozenset(range(0, len(backend.tokenizer), 9))  # random weights seldom end a turn
    together = completed(backend, REQUESTS, DRAWN)
    assert len({answer.completion_tokens for answer in together}) > 3
    backend.batch_tokens = 1
    near = [
        {name: pytest.approx(getattr(answer, name), abs=1e-4) for name in ("logprobs", "end_logprob")}
        for answer in together
    ]
    expected = [replace(answer, **values) for answer, values in zip(together, near, strict=True)]
    assert completed(backend, REQUESTS, DRAWN) == expected


def test_seeds_matter_and_greedy_does_not_draw(backend):
    def texts(sampling):
        return [answer.text for answer in completed(backend, REQUESTS, sampling)]

    greedy, drawn, other = texts(GREEDY), texts(DRAWN), texts(replace(DRAWN, seed=4))
    assert texts(DRAWN) == drawn
    assert texts(Sampling(24, temperature=0.8, top_k=1)) == greedy
    assert len({*map(tuple, (greedy, drawn, other))}) == 3


def test_choose_draws_by_the_filtered_distribution():
    import torch

    logits = torch.tensor([0.1, 0.4, 0.2, 0.3]).log()[None]

    def drawn(value, temperature=1.0, **settings):
        chance = SimpleNamespace(random=lambda: value)
        return int(_batches.next_tokens(logits, [chance], Sampling(1, temperature=temperature, **settings)))

    assert [drawn(v) for v in (0.0, 0.39, 0.41, 0.69, 0.71, 0.89, 0.91, 1 - 1e-12)] == [1, 1, 3, 3, 2, 2, 0, 0]
    assert [drawn(v, top_k=2) for v in (0.56, 0.58, 1 - 1e-12)] == [1, 3, 3]
    assert [drawn(v, top_p=0.5) for v in (0.56, 0.58, 1 - 1e-12)] == [1, 3, 3]
    assert drawn(0.9, temperature=0.0) == 1


def test_what_does_not_fit_is_refused_not_cut(weights):
    backend = local.Backend(weights, dtype="float32", context=1000)
    assert backend.context == 256
    long = Generate((Message("user", "x" * 300),))
    first, second = completed(backend, [long, REQUESTS[0]], Sampling(8))
    assert (first.finish, first.text) == ("refused", "")
    assert first.prompt_tokens > 300
    assert second.finish != "refused"
    assert local.Backend(weights, context=100).context == 100


def test_adapter_changes_answers_and_identity(weights, adapter):
    base = local.Backend(weights, dtype="float32")
    tuned = local.Backend(weights, adapter, dtype="float32")
    assert completed(base, REQUESTS, GREEDY) != completed(tuned, REQUESTS, GREEDY)
    assert base.identity != tuned.identity
    assert base.identity == local.Backend(weights).identity
    assert local.Backend(weights, identity="given").identity == "given"


def test_adapters_of_a_shared_engine_answer_as_they_do_alone(weights, adapter, tmp_path):
    other = tiny.adapter(weights, tmp_path, seed=7)
    alone = {at: completed(local.Backend(weights, at), REQUESTS, GREEDY) for at in (None, adapter, other)}
    shared = local.Backend(weights)
    for at in (adapter, other, None, adapter, other, other):
        shared.use(at, str(at))
        assert completed(shared, REQUESTS, GREEDY) == alone[at]
    assert alone[adapter] != alone[other] != alone[None]


def test_an_adapter_that_does_not_fit_leaves_the_base_alone(weights, adapter, tmp_path):
    from safetensors.torch import load_file, save_file

    shutil.copytree(adapter, tmp_path / "odd")
    stored = load_file(adapter / "adapter_model.safetensors")
    save_file(dict(list(stored.items())[:3]), tmp_path / "odd/adapter_model.safetensors")
    shared = local.Backend(weights)
    before = completed(shared, REQUESTS, GREEDY)
    with pytest.raises(ModelInvalid, match="without a counterpart"):
        shared.use(tmp_path / "odd", "odd")
    assert completed(shared, REQUESTS, GREEDY) == before


def test_adapter_that_would_do_nothing_is_refused(weights, adapter, tmp_path):
    from safetensors.torch import load_file, save_file

    (tmp_path / "adapter_config.json").write_bytes((adapter / "adapter_config.json").read_bytes())
    with pytest.raises(ModelInvalid, match=r"no adapter_model\.safetensors"):
        local.Backend(weights, tmp_path)
    stored = load_file(adapter / "adapter_model.safetensors")
    renamed = {name.replace("model.layers", "model.language_model.layers"): value for name, value in stored.items()}
    save_file(renamed, tmp_path / "adapter_model.safetensors")
    with pytest.raises(ModelInvalid, match="LoRA weights without a counterpart"):
        local.Backend(weights, tmp_path)


def test_unloadable_models_say_so_in_one_line(tmp_path, weights):
    assert "cannot be used" in line_of(ModelInvalid, local.Backend, tmp_path / "nowhere")
    shutil.copytree(weights, tmp_path / "pickled", ignore=shutil.ignore_patterns("*.safetensors"))
    (tmp_path / "pickled/pytorch_model.bin").write_bytes(b"pickle")
    assert "cannot be used" in line_of(ModelInvalid, local.Backend, tmp_path / "pickled")


@pytest.mark.parametrize(
    ("file", "changes"),
    [
        ("config.json", {"hidden_size": "x"}),
        ("config.json", {"model_type": {"a": 1}}),
        ("config.json", {"head_dim": 0}),
        ("config.json", {"vocab_size": -1}),
        ("config.json", {"quantization_config": {"quant_method": "awq"}}),
        ("config.json", {"quantization_config": 5}),
        ("config.json", {"attn_implementation": "evil/kernel"}),
        ("config.json", {"dtype": "a/b"}),
        ("config.json", {"rope_parameters": {"rope_type": "default", "rope_theta": [1]}}),
        ("tokenizer.json", {"added_tokens": [None]}),
        ("tokenizer.json", {"post_processor": 5}),
        ("tokenizer.json", {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"}}),
        ("tokenizer_config.json", {"auto_map": [1]}),
    ],
)
def test_a_base_model_of_wrong_types_is_one_line(weights, tmp_path, file, changes):
    """Every kind of exception that its libraries raise, plain Exception and a panic of Rust among them."""
    shutil.copytree(weights, tmp_path / "base")
    path = tmp_path / "base" / file
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    assert "/base: cannot be used: " in line_of(ModelInvalid, local.Backend, tmp_path / "base")


def test_an_adapter_that_is_no_plain_lora_never_reaches_a_library(weights, adapter, tmp_path):
    shutil.copytree(adapter, tmp_path / "adapter")
    path = tmp_path / "adapter/adapter_config.json"
    plain = json.loads(path.read_text())
    for changes in ({"target_modules": "(([a-z_.0-9])+)+!"}, {"layer_replication": [[0, 2]] * 2000}, {"r": "4"}):
        path.write_text(json.dumps(plain | changes))
        line = line_of(ModelInvalid, local.Backend, weights, tmp_path / "adapter")
        assert f"/adapter/adapter_config.json: {next(iter(changes))}" in line
    path.write_text(json.dumps(plain | {"exclude_modules": lora.VISION_MODULES}))
    assert local.Backend(weights, tmp_path / "adapter", dtype="float32"), "as training writes it for Gemma 3"


EMBEDDED = Path(os.environ.get("EXCAM_TEST_MODEL", "results/models/smollm2-135m"))
EMBEDDED = EMBEDDED if (EMBEDDED / "config.json").is_file() else EMBEDDED / "files"


@pytest.mark.model
@pytest.mark.skipif(not (EMBEDDED / "config.json").is_file(), reason="no embedded model; set EXCAM_TEST_MODEL")
def test_the_embedded_model_speaks():
    backend = local.Backend(EMBEDDED)
    paris = Generate((Message("user", "What is the capital of France? Answer with one word."),))
    ids = chat.encode(backend.tokenizer, (Message("user", "a\n\n1<|im_end|><|endoftext|>"),)).input_ids
    assert sum(token in (0, 1, 2) for token in ids) == 5  # three starts and two ends, all the template's
    assert backend.tokenizer.convert_ids_to_tokens(backend.tokenizer.encode("a\n\n1")) == ["a", "ĊĊ", "1"]
    (answer,) = completed(backend, [paris], Sampling(max_tokens=24))
    assert "Paris" in answer.text
    assert answer.finish == "stop"
    assert all(-20 < logprob <= 0 for logprob in answer.logprobs)
