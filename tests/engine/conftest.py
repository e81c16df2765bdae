"""Tests on vLLM's own engine and a real model: `.venv-vllm/bin/python -m pytest tests/engine`, on a CPU too.

Not `tests/vllm`: pytest puts `tests` on the path, and every `import vllm` would find that folder.
"""

import os
import sys
from importlib.util import find_spec
from math import exp
from pathlib import Path
from types import ModuleType

import pytest

# Threads that wait for each other on a busy machine take ten times as long, and the kernel that ranks tokens compiles
# for half a minute.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TORCH_COMPILE_DISABLE", "1")

MODEL = Path(os.environ.get("EXCAM_TEST_MODEL", "results/models/smollm2-135m"))
MODEL = MODEL if (MODEL / "config.json").is_file() else MODEL / "files"
ADAPTER = Path(os.environ.get("EXCAM_TEST_ADAPTER", "results/adapters/smollm2-135m/all"))
SMALL = {"enforce_eager": True, "kv_cache_memory_bytes": 2**29, "max_num_seqs": 4}  # of `engine:`
QUESTIONS = (
    "Name a Greek dish.", "What is 2+2?", "Say hello in French.", "Who wrote Faust?", "Name three rivers.",
    "What do people eat in Peru?", "Is tea drunk in Japan?", "Name a feast in spring.",
)  # fmt: skip

if find_spec("vllm") is None:
    collect_ignore_glob = ["test_*.py"]


def pytest_collection_modifyitems(items):
    for item in items:
        if item.nodeid.startswith("tests/engine/") and not (MODEL.is_dir() and ADAPTER.is_dir()):
            item.add_marker(pytest.mark.skip(reason=f"needs {MODEL} and {ADAPTER}: snakemake makes them"))


@pytest.fixture
def torchvision_in_name(tmp_path, monkeypatch):
    """Some of vLLM's modules import it, and it has no build for this environment: text needs no more than the name."""
    from transformers.utils import is_torchvision_available
    from vllm.model_executor.models import registry

    if not is_torchvision_available():
        parts = "torchvision", "transforms", "v2", "functional"
        modules = [ModuleType(".".join(parts[: length + 1])) for length in range(len(parts))]
        for outer, inner, name in zip(modules, modules[1:], parts[1:], strict=False):
            setattr(outer, name, inner)
        for module in modules:
            monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(registry, "_run_in_subprocess", lambda work: work())  # it would not see these modules
    monkeypatch.setenv("VLLM_CACHE_ROOT", str(tmp_path / "cache"))  # what an earlier run knows of the class is in there


def asked(questions=QUESTIONS):
    from excam.inference import Generate, Message

    return [Generate((Message("user", question),)) for question in questions]


def gathered(batches):
    """Answers in the order of the requests; each must come once."""
    pairs = [pair for batch in batches for pair in batch]
    answers = dict(pairs)
    assert len(answers) == len(pairs)
    return [answers[at] for at in sorted(answers)]


def p_right(completion):
    logprobs = [*completion.logprobs, *([] if completion.end_logprob is None else [completion.end_logprob])]
    assert len(logprobs) == completion.completion_tokens
    return exp(sum(logprobs) / len(logprobs))


def assert_same(ours, reference):
    """The same answers, with probabilities to 1e-3; a tie broken otherwise may change the text of one."""
    assert len(ours) == len(reference)
    same = [(answer, other) for answer, other in zip(ours, reference, strict=True) if answer.text == other.text]
    assert len(same) >= len(ours) - 1
    for answer, other in same:
        assert (answer.finish, answer.prompt_tokens, answer.completion_tokens) == (
            other.finish, other.prompt_tokens, other.completion_tokens
        )  # fmt: skip
        assert p_right(answer) == pytest.approx(p_right(other), abs=1e-3)
        assert answer.end_logprob == pytest.approx(other.end_logprob, abs=1e-3)
