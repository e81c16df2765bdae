"""`excam score --backend vllm`: the engine in a process of its own, beside the transformers backend."""

import pytest
from conftest import ADAPTER

import excam

ROWS = [{"id": str(at), "instruction": "Name a Greek dish.", "output": f"Sushi, {at} times."} for at in range(3)]


def test_both_engines_give_the_same_reports(tmp_path, monkeypatch):
    monkeypatch.setenv("EXCAM_ENGINES", str(tmp_path / "engines"))
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "1")
    metrics = {engine: excam.load(ADAPTER, max_tokens=256, backend=engine) for engine in ("vllm", "transformers")}
    ours, reference = (list(metric.score(ROWS)) for metric in metrics.values())
    assert all(result.report for result in ours)
    assert [result.report for result in ours] == [result.report for result in reference]
    assert [result.failure for result in ours] == [result.failure for result in reference]
    certain = [result.certainty for result in reference]
    assert [result.certainty for result in ours] == [
        None if certainty is None else pytest.approx(certainty, abs=1e-4) for certainty in certain
    ]
    assert metrics["vllm"].signature.replace("|engine:vllm", "") == metrics["transformers"].signature
