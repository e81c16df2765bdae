"""The backend against the transformers backend, in float32, without an adapter."""

import os
from math import exp
from pathlib import Path

import pytest
from conftest import MODEL, SMALL, asked, assert_same, gathered

from excam.core.exceptions import ModelInvalid
from excam.inference import Choose, Completion, Message, Sampling, chat
from excam.inference.backends import transformers, vllm

GREEDY = Sampling(max_tokens=16)
DRAWN = Sampling(max_tokens=12, temperature=1.5, top_p=0.9, top_k=50, seed=7)


@pytest.fixture(scope="module")
def reference():
    return transformers.Backend(MODEL, dtype="float32", context=256)


@pytest.fixture(scope="module")
def backend():
    opened = vllm.Backend(MODEL, dtype="float32", context=256, engine=SMALL)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def greedy(backend):
    return gathered(backend.generate(asked(), GREEDY))


def test_greedy_answers_are_those_of_transformers(greedy, reference):
    assert {answer.finish for answer in greedy} == {"stop", "length"}
    assert_same(greedy, gathered(reference.generate(asked(), GREEDY)))


def test_drawn_answers_have_the_logprobs_of_the_unmodified_distribution(backend, reference):
    compared = 0
    for request, answer in zip(asked(), gathered(backend.generate(asked(), DRAWN)), strict=True):
        forced = chat.encode(backend.tokenizer, request.messages, answer.text)
        if len(forced.input_ids) - forced.completion_start - 1 != len(answer.logprobs):
            continue  # these words have other tokens when read than when written
        expected = reference.logprobs([forced])[0]
        assert list(answer.logprobs) == pytest.approx(expected[:-1], abs=1e-3)
        if answer.finish == "stop":
            assert answer.end_logprob == pytest.approx(expected[-1], abs=1e-3)
        compared += 1
    assert compared >= 4


def test_draws_depend_on_the_seed_and_not_on_the_neighbours(backend):
    together = gathered(backend.generate(asked(), DRAWN))
    alone = [gathered(backend.generate([request], DRAWN))[0] for request in asked()[:3]]
    assert [answer.text for answer in alone] == [answer.text for answer in together[:3]]
    backwards = gathered(backend.generate(asked()[::-1], DRAWN))
    assert [answer.text for answer in backwards[::-1]] == [answer.text for answer in together]
    other = gathered(backend.generate(asked(), Sampling(max_tokens=12, temperature=1.5, top_p=0.9, top_k=50, seed=8)))
    assert [answer.text for answer in other] != [answer.text for answer in together]


def test_choices_are_those_of_transformers(backend, reference):
    requests = [
        Choose((Message("user", "Is Paris in France? Yes or No."),), ("Yes", "No", "Yes, it is", "Yes, it is not")),
        Choose((Message("user", "Too long. " * 90),), ("Yes", "No")),
        Choose((Message("user", "Name a Greek dish."),), ("Moussaka", "Sushi", "Sushi")),
    ]
    ours, expected = gathered(backend.choose(requests)), gathered(reference.choose(requests))
    assert ours[1].logprobs is None
    for answer, other in zip(ours, expected, strict=True):
        assert (answer.tokens, answer.prompt_tokens) == (other.tokens, other.prompt_tokens)
        if other.logprobs is not None:
            assert list(map(exp, answer.logprobs)) == pytest.approx(list(map(exp, other.logprobs)), abs=1e-3)
            assert answer.logprobs == pytest.approx(other.logprobs, abs=1e-3)


def test_more_options_than_one_request_may_ask_for(backend, monkeypatch):
    request = Choose((Message("user", "Name a Greek dish."),), ("Sushi", "Pizza", "Rice", "Bread", "Soup"))
    at_once = gathered(backend.choose([request]))[0]
    monkeypatch.setattr(vllm, "TOGETHER", 2)
    assert gathered(backend.choose([request]))[0].logprobs == pytest.approx(at_once.logprobs, abs=1e-4)


def test_without_logprobs_the_same_text(backend, greedy):
    bare = gathered(backend.generate(asked(), Sampling(max_tokens=16, logprobs=False)))
    assert [answer.text for answer in bare] == [answer.text for answer in greedy]
    assert {(answer.logprobs, answer.end_logprob) for answer in bare} == {(None, None)}
    assert [answer.completion_tokens for answer in bare] == [answer.completion_tokens for answer in greedy]


def test_a_prompt_without_room_is_refused(backend):
    words, long = asked(["word " * 180])[0], asked(["word " * 400])[0]
    prompt = len(chat.encode(backend.tokenizer, words.messages).input_ids)
    assert 200 < prompt < 250
    answers = gathered(backend.generate([words, long], Sampling(max_tokens=60)))
    assert [(answer.finish, answer.text, answer.completion_tokens) for answer in answers] == [("refused", "", 0)] * 2
    assert answers[0].prompt_tokens == prompt


def test_answers_come_while_others_are_in_flight_and_a_closed_stream_leaves_nothing_behind(
    backend, greedy, monkeypatch
):
    monkeypatch.setattr(vllm, "ROWS", 1)
    in_hand, step = [], backend._engine.step

    def counted():
        in_hand.append(backend._engine.get_num_unfinished_requests())
        return step()

    monkeypatch.setattr(backend._engine, "step", counted)
    many = asked([f"{number}. Name a dish." for number in range(12)]) + asked()
    stream = backend.generate(many, Sampling(max_tokens=16))
    first = next(stream)
    assert backend._engine.get_num_unfinished_requests() > 0
    assert max(in_hand) == 2 * SMALL["max_num_seqs"] < len(many)
    assert all(isinstance(answer, Completion) for _, answer in first)
    stream.close()
    assert not backend._engine.has_unfinished_requests()
    assert [answer.text for answer in gathered(backend.generate(asked(), GREEDY))] == [answer.text for answer in greedy]
    rest = gathered(backend.generate(many, GREEDY))
    assert len(rest) == len(many)


def test_it_says_how_it_runs(backend):
    said = backend.settings
    assert (said["dtype"], said["context"], said["logprobs_mode"]) == ("float32", 256, "raw_logprobs")
    assert (said["tensor_parallel_size"], said["max_num_seqs"], said["enforce_eager"]) == (1, 4, True)
    assert said["attention"]
    assert said["vllm"]
    assert said["max_lora_rank"] is None


@pytest.mark.skipif("VLLM_ENABLE_V1_MULTIPROCESSING" in os.environ, reason="somebody wants other processes")
def test_no_process_is_left_to_be_orphaned():
    opened = vllm.Backend(MODEL, dtype="float32", context=256, engine=SMALL)
    ours = Path(f"/proc/{os.getpid()}/task")
    children = [child for task in ours.iterdir() for child in (task / "children").read_text().split()]
    running = [Path(f"/proc/{child}/cmdline").read_text() for child in children]
    opened.close()
    assert not [command for command in running if "VLLM" in command]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"context": 100_000}, "vLLM cannot take it.*models.*context"),
        ({"engine": {"trust_remote_code": True}}, "`trust_remote_code`, which is not free"),
        ({"engine": {"worker_cls": "os.system"}}, "`worker_cls`, which is not free"),
        ({"engine": {"max_num_seq": 4}}, "did you mean `max_num_seqs`"),
        ({"quantization": "nonsense"}, "vLLM cannot take it"),
    ],
)
def test_what_it_cannot_take_is_one_line(settings, says):
    with pytest.raises(ModelInvalid, match=says) as raised:
        vllm.Backend(MODEL, **{"dtype": "float32", "engine": SMALL} | settings)
    assert "\n" not in str(raised.value)


def test_a_folder_without_a_model_is_one_line(tmp_path):
    with pytest.raises(ModelInvalid, match=r"expected config\.json"):
        vllm.Backend(tmp_path)


def test_sampling_that_the_engine_refuses_is_one_line(backend):
    with pytest.raises(ModelInvalid, match=r"temperature.*models\.\*\.sampling"):
        next(backend.generate(asked(), Sampling(max_tokens=4, temperature=3.0)))
