"""Processes, devices and memory of training, and measurements of speed and memory."""

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
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from excam.core.exceptions import ModelInvalid
from excam.inference import gpus
from excam.training.layout import Layout

if TYPE_CHECKING:
    import torch

# Dense bfloat16 operations per second, in 1e12, from the data sheets.
PEAKS = {"A100": 312, "H100 PCIe": 756, "H100": 989, "H200": 989, "B200": 2250}
# PyTorch's allocator settings, by both names. Its default blocks cannot be resized: steps of varying length fragment
# gigabytes of memory, too much for a GPU that the base model nearly fills.
ALLOCATOR = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF")
PR_SET_PDEATHSIG = 1  # linux/prctl.h: the signal a process gets when its parent ends


def rank() -> int:
    """Return the index of this process among those of the layout."""
    return int(os.environ.get("RANK", "0"))


def launch_processes(layout: Layout, module: str, argv: list[str], name: str) -> None:
    """Start all processes of the layout and exit with their code; return if this is the only one or one of them.

    The first process locks the GPUs, for the adapter of this name, and its children inherit them.

    Args:
        layout: processes and devices
        module: that each process runs
        argv: its words
        name: of the adapter, for messages
    """
    # Torch reads it once, at its start
    if layout.device == "gpu" and not any(name in os.environ for name in ALLOCATOR):
        os.environ[ALLOCATOR[0]] = "expandable_segments:True"
    if "LOCAL_RANK" in os.environ:
        end_with_parent()
        return
    gpus.take_gpus(layout.processes if layout.device == "gpu" else 0, name)
    if layout.processes == 1:
        return
    # those that this job may use: a scheduler may limit them
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, cores // layout.processes)))
    if layout.device == "cpu" and Path("/sys/class/net/lo").exists():
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # one machine: the host name need not resolve
    sys.exit(_run_launcher(layout.processes, ["-m", module, *argv]))


def end_with_parent() -> None:
    """Kill this process when its parent ends.

    A killed launcher has released its GPUs, so its children must not continue to use them or to write checkpoints.
    """
    parent = os.getppid()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent ended before the signal was set
        os._exit(1)


def _run_launcher(processes: int, words: list[str]) -> int | str:
    """Run the processes with PyTorch's launcher; return the exit code, or a message for `sys.exit`.

    Only the output of the first process is shown. If only another one failed, the message is its last line. The
    launcher's own table of failures is suppressed, because the processes report the reason.
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
            first = problem.failures.get(0)
            if first is not None and first.exitcode > 0:  # below 0: killed by the launcher after another one failed
                return first.exitcode
            rank, _ = problem.get_first_failure()
            lines = [
                line for file in Path(folder).rglob(f"{rank}/stderr.log") for line in file.read_text().splitlines()
            ]
            return f"process {rank}: {lines[-1] if lines else problem}"
    return 0


def weights_dtype(layout: Layout) -> torch.dtype:
    """Return bfloat16; float32 for a processor without arithmetic in bfloat16, which takes six times as long for it."""
    import torch

    has_bfloat16 = layout.device == "gpu" or torch.ops.mkldnn._is_mkldnn_bf16_supported()
    return torch.bfloat16 if has_bfloat16 else torch.float32


def check_devices(layout: Layout, weights: Path) -> None:
    """Raise ModelInvalid if the layout's devices are missing or too small for the base model."""
    import torch

    if layout.device == "cpu":
        needed, free, unit = _weight_bytes(weights) * layout.processes, _free_memory(), "of memory"
        if layout.deepspeed:
            _gather_over_gloo()
    else:
        visible = torch.cuda.device_count()
        if visible != layout.processes:
            raise ModelInvalid(
                f"{visible} GPUs visible; expected {layout.processes}, one for each process of the layout; set "
                "CUDA_VISIBLE_DEVICES, or choose another training.layout"
            )
        shared = layout.processes if layout.fsdp else 1
        needed, free, unit = _weight_bytes(weights) // shared, torch.cuda.mem_get_info(0)[0], "of the GPU"
    if needed > free:
        raise ModelInvalid(
            f"{weights}: weights of {needed / 2**30:.1f} GiB to load, and {free / 2**30:.1f} GiB {unit} are free; "
            "choose a smaller base, a larger device, or training.layout fsdp2"
        )


def _gather_over_gloo() -> None:
    """Initialise accelerate for DeepSpeed on a CPU with gloo; by default it finds no backend and one process.

    TrainingArguments keeps this state with `use_configured_state`.
    """
    from accelerate import PartialState

    if "LOCAL_RANK" in os.environ:
        os.environ["ACCELERATE_USE_DEEPSPEED"] = "true"
        PartialState(backend="gloo")
        del os.environ["ACCELERATE_USE_DEEPSPEED"]


def _weight_bytes(weights: Path) -> int:
    return sum(file.stat().st_size for file in weights.glob("*.safetensors"))


def _free_memory() -> int:
    """Return the bytes available without swapping; file caches count as free."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:  # not Linux
        lines = []
    available = (int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
    return next(available, 0) or os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def explain_out_of_memory(layout: Layout) -> Iterator[None]:
    """Convert out-of-memory errors to ModelInvalid with the settings of the layout that save memory."""
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


def speed_and_memory(model: Any, tokens: int, seconds: float) -> dict[str, Any]:
    """Return device, speed and memory of a run, for the manifest.

    `peak_share` is the share of the GPU's peak performance, counting 4 operations per token and weight of the base's
    linear layers (forward pass, and gradient of the activations, since the base is frozen) without recomputation.
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
        "dtype": str(model.dtype).removeprefix("torch."),
        "tokens_per_second": round(tokens / seconds, 1) if seconds else None,
        "peak_share": share and round(share, 4),
        "peak_memory_gib": round(memory / 2**30, 2),
    }
