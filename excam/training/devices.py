"""The machine's side of training: processes and devices of a layout, memory, and what was made of them."""

from __future__ import annotations

import ctypes
import logging
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from excam import gpus
from excam.exceptions import ModelInvalid
from excam.training.layout import Layout

# Dense bfloat16 operations a second, in 1e12, as the makers print them.
PEAKS = {"A100": 312, "H100 PCIe": 756, "H100": 989, "H200": 989, "B200": 2250}
# PyTorch's settings of memory, by their two names. Its usual blocks fit no other size: steps of changing length leave
# gaps of gigabytes between them, which a card that the base nearly fills does not have.
ALLOCATOR = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF")
PR_SET_PDEATHSIG = 1  # linux/prctl.h: the signal a process gets when its parent ends


def rank() -> int:
    """Which of the processes of a layout this is."""
    return int(os.environ.get("RANK", "0"))


def spread(layout: Layout, module: str, argv: list[str], name: str) -> None:
    """Run all processes of the layout and exit with their code, unless this is the only one or one of them.

    GPUs are taken by the first, for the adapter of this name, and left to those it starts.
    """
    if layout.device == "gpu" and not any(
        name in os.environ for name in ALLOCATOR
    ):  # before torch starts, which reads it once
        os.environ[ALLOCATOR[0]] = "expandable_segments:True"
    if "LOCAL_RANK" in os.environ:
        end_with_parent()
        return
    gpus.take(layout.processes if layout.device == "gpu" else 0, name)
    if layout.processes == 1:
        return
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, _cores() // layout.processes)))
    if layout.device == "cpu" and Path("/sys/class/net/lo").exists():
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # one machine: the name of the host need lead nowhere
    sys.exit(_launched(layout.processes, ["-m", module, *argv]))


def _cores() -> int:
    """Cores that this job may use: a scheduler gives it some of a machine's."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def end_with_parent() -> None:
    """Make this process end with the one that started it.

    A killed launcher has given its GPUs back: nothing of it may go on training on them, or write checkpoints.
    """
    parent = os.getppid()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before it could be heard of
        os._exit(1)


def _launched(processes: int, words: list[str]) -> int | str:
    """Code of the processes, which PyTorch's launcher starts and ends together; the first one's output is seen.

    Where another failed alone, its last line; not the launcher's table of who failed, since they say themselves why.
    """
    from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, Std
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    logging.getLogger("torch.distributed.elastic").setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder:
        config = LaunchConfig(
            min_nodes=1,
            max_nodes=1,
            nproc_per_node=processes,
            max_restarts=0,
            run_id=uuid4().hex,
            rdzv_backend="c10d",
            rdzv_endpoint="localhost:0",
            logs_specs=DefaultLogsSpecs(folder, redirects=dict.fromkeys(range(1, processes), Std.ALL)),
        )
        try:
            elastic_launch(config, sys.executable)(*words)
        except ChildFailedError as problem:
            told = problem.failures.get(0)
            if told is not None and told.exitcode > 0:  # below 0: ended by the launcher, as another had failed
                return told.exitcode
            rank, _ = problem.get_first_failure()
            said = [line for file in Path(folder).rglob(f"{rank}/stderr.log") for line in file.read_text().splitlines()]
            return f"process {rank}: {said[-1] if said else problem}"
    return 0


def claim(layout: Layout, weights: Path) -> None:
    """Check that the layout's devices are there and hold the base model. Raises ModelInvalid."""
    import torch

    if layout.device == "cpu":
        needed, free, unit = _bytes(weights) * layout.processes, _free_memory(), "of memory"
        if layout.deepspeed:
            _gather_over_gloo()
    else:
        found = torch.cuda.device_count()
        if found != layout.processes:
            raise ModelInvalid(
                f"{found} GPUs visible; expected {layout.processes}, one for each process of the layout; set "
                "CUDA_VISIBLE_DEVICES, or choose another training.layout"
            )
        shared = layout.processes if layout.fsdp else 1
        needed, free, unit = _bytes(weights) // shared, torch.cuda.mem_get_info(0)[0], "of the GPU"
    if needed > free:
        raise ModelInvalid(
            f"{weights}: weights of {needed / 2**30:.1f} GiB to load, and {free / 2**30:.1f} GiB {unit} are free; "
            "choose a smaller base, a larger device, or training.layout fsdp2"
        )


def _gather_over_gloo() -> None:
    """Let accelerate count the processes of DeepSpeed on a CPU: left to itself it finds no backend, and only one.

    TrainingArguments then keeps this state where it is told so (`use_configured_state`).
    """
    from accelerate import PartialState

    if "LOCAL_RANK" in os.environ:
        os.environ["ACCELERATE_USE_DEEPSPEED"] = "true"
        PartialState(backend="gloo")
        del os.environ["ACCELERATE_USE_DEEPSPEED"]


def _bytes(weights: Path) -> int:
    return sum(file.stat().st_size for file in weights.glob("*.safetensors"))


def _free_memory() -> int:
    """Bytes that can be had without swapping; what caches files now counts as free."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):  # not Linux
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def explained(layout: Layout) -> Iterator[None]:
    """Raises ModelInvalid where memory ran out, with the knobs that save some."""
    import torch

    try:
        yield
    except (torch.OutOfMemoryError, MemoryError) as problem:
        knobs = ["fewer rows_per_pass"] if layout.rows_per_pass > 1 else []
        knobs += ["fewer tokens_per_pass"] if layout.tokens_per_pass else []
        knobs += ["checkpointing: full"] if layout.checkpointing != "full" else []
        knobs += ["fsdp2 over two cards"] if not layout.fsdp else ["more processes"]
        first = str(problem).split(". ")[0][:160]
        raise ModelInvalid(
            f"out of memory while training ({first}); the same result takes less with a layout of {', or '.join(knobs)}"
        ) from None


def measured(model: Any, tokens: int, seconds: float) -> dict[str, Any]:
    """Speed and memory of a run: what a manifest says of the machine.

    `peak_share` is 4 operations per weight of the base's linear layers and token (forward, and the gradient of the
    activations: the base is frozen), over what the card could do; computing activations again does not count.
    """
    import torch

    on_gpu = model.device.type == "cuda"
    device = torch.cuda.get_device_name() if on_gpu else "cpu"
    peak = next((value for name, value in PEAKS.items() if name in device), None)
    linear = sum(
        module.weight.numel()
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Linear) and "lora_" not in name
    )
    share = 4 * linear * tokens / seconds / (peak * 1e12) if peak and seconds else None
    memory = torch.cuda.max_memory_allocated() if on_gpu else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {
        "device": device,
        "tokens_per_second": round(tokens / seconds, 1) if seconds else None,
        "peak_share": share and round(share, 4),
        "peak_memory_gib": round(memory / 2**30, 2),
    }
