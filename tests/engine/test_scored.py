"""`excam score --backend vllm`: the engine in a process of its own, beside the transformers backend."""

import pytest
from conftest import ADAPTER

import excam

ROWS = [{"id": str(at), "instruction": "Name a Greek dish.", "output": f"Sushi, {at} times."} for at in range(3)]


def test_both_engines_give_the_same_reports(tmp_path, monkeypatch):
    monkeypatch.setenv("EXCAM_ENGINES", str(tmp_path / "engines"))
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "1")
    found = {engine: excam.load(ADAPTER, max_tokens=256, backend=engine) for engine in ("vllm", "transformers")}
    ours, reference = (list(metric.score(ROWS)) for metric in found.values())
    assert all(one.report for one in ours)
    assert [one.report for one in ours] == [one.report for one in reference]
    assert [one.failure for one in ours] == [one.failure for one in reference]
    certain = [one.certainty for one in reference]
    assert [one.certainty for one in ours] == [None if one is None else pytest.approx(one, abs=1e-4) for one in certain]
    assert found["vllm"].signature.replace("|engine:vllm", "") == found["transformers"].signature
