"""Backends that are not installed."""

import pytest

from excam.exceptions import ModelInvalid
from excam.inference.backends import vllm


def test_vllm_says_how_to_install_it(weights):
    pytest.importorskip("torch")
    try:
        import vllm as _  # noqa: F401
    except ImportError:
        with pytest.raises(ModelInvalid, match=r"pip install 'excam\[vllm\]'"):
            vllm.Backend(weights)
