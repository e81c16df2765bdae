"""Measure on one card what `bench/hours.yaml` assumes, and write it there.

    python -m bench.card --peak 989e12 --bandwidth 3.35e12 --yaml bench/hours.yaml

Needs torch and transformers; no weights: two and four layers of the real widths with random numbers. The difference is
the time of two layers, so embeddings and start-up do not count. Parts, of at most
eight minutes each:

train      two passes and one pass again through frozen layers of Phi-3-medium and Gemma-3-27B: `mfu`
decode     one token for 64, 256 and 512 answers behind 500 tokens, by PyTorch's own attention: `reading`

Each number goes to `--numbers` as soon as it is measured, with the name of the card; one that is there is not
measured again. `--yaml` then gets the values, "measured on" that card. `pause` needs vLLM and is not measured here.
`--device cpu` tries the program with small layers; nothing of that is written to `--yaml`.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import mean, median
from typing import Any

LAYERS = 2  # and twice as many
TOKENS = 4096  # of a training step
HEAD = 128  # width of a head
BEHIND = 500  # tokens in the cache before the one that is decoded
ANSWERS = (64, 256, 512)
SHAPES: dict[str, dict[str, Any]] = {
    "phi3-medium-4k": {
        "hidden_size": 5120,
        "intermediate_size": 17920,
        "num_attention_heads": 40,
        "num_key_value_heads": 10,
    },
    "gemma3-27b": {
        "hidden_size": 5376,
        "intermediate_size": 21504,
        "num_attention_heads": 32,
        "num_key_value_heads": 16,
    },
}
SMALL: dict[str, Any] = {
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_attention_heads": 16,
    "num_key_value_heads": 4,
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=("train", "decode"), default=["train", "decode"])
    parser.add_argument("--peak", type=float, default=989e12, help="dense bfloat16 of the card, FLOP/s")
    parser.add_argument("--bandwidth", type=float, default=3.35e12, help="of its memory, bytes/s")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--numbers", type=Path, default=Path("card.jsonl"), help="one line for each number")
    parser.add_argument("--yaml", type=Path, help="write the values into this file of assumptions")
    options = parser.parse_args(argv)
    card = name_of(options.device)
    lines = read_numbers(options.numbers)
    for part, of, measure in measurements(options):
        if any((line["part"], line["of"], line["card"]) == (part, of, card) for line in lines):
            print(f"{part} {of}: measured already, in {options.numbers}", flush=True)
            continue
        line = {"part": part, "of": of, "card": card, **measure()}
        lines.append(line)
        print(json.dumps(line), flush=True)
        with options.numbers.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    if options.yaml and options.device != "cpu":
        write_assumptions(options.yaml, [line for line in lines if line["card"] == card], card)


def name_of(device: str) -> str:
    import torch

    return torch.cuda.get_device_name() if device == "cuda" else f"{device}, small layers"


def read_numbers(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def measurements(options: argparse.Namespace) -> Iterator[tuple[str, str, Callable[[], dict[str, Any]]]]:
    """Yield the part, what is measured in it, and the function that measures it."""
    for shape in SHAPES:
        if "train" in options.parts:
            yield "train", shape, partial(train, shape, options)
    for answers in ANSWERS if options.device == "cuda" else (2,):
        if "decode" in options.parts:
            yield "decode", f"{answers} answers", partial(decode, answers, options)


def train(shape: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return `mfu`: FLOPs of a layer, its activations computed twice, over its time and the card's peak."""
    import torch

    tokens = TOKENS if options.device == "cuda" else 64
    seconds, parameters = [], []
    for layers in (LAYERS, 2 * LAYERS):
        model = build(shape, layers, options.device)
        model.gradient_checkpointing_enable({"use_reentrant": False})
        model.train().requires_grad_(False)
        inputs = torch.randn(1, tokens, model.config.hidden_size, device=options.device, dtype=model.dtype)
        inputs.requires_grad_(True)
        seconds.append(timed(partial(_both_passes, model, inputs), options))
        parameters.append(sum(weight.numel() for weight in model.layers.parameters()))
    flop = tokens * (parameters[1] - parameters[0]) * 2 * 3  # forwards, again, and the gradient of the activations
    return {"name": "mfu", "value": flop / (seconds[1] - seconds[0]) / options.peak, "seconds": seconds}


def _both_passes(model: Any, inputs: Any) -> None:
    model(inputs_embeds=inputs, use_cache=False).last_hidden_state.float().mean().backward()


def decode(answers: int, options: argparse.Namespace) -> dict[str, Any]:
    """Return `reading`: bytes of a layer's weights and caches over its time and the bandwidth.

    A cache stands in its place, as in an engine; transformers would copy it for each token.
    """
    import torch

    seconds, sizes = [], []
    for count in (LAYERS, 2 * LAYERS):
        layers = [decoded_layer(answers, options.device) for _ in range(count)]
        sizes.append(sum(tensor.numel() * tensor.element_size() for layer in layers for tensor in layer.values()))
        hidden = torch.randn(answers, layers[0]["out"].shape[1], device=options.device, dtype=torch.bfloat16)
        with torch.inference_mode():
            seconds.append(timed(partial(_one_token, layers, hidden), options))
    rate = (sizes[1] - sizes[0]) / (seconds[1] - seconds[0])
    return {"name": "reading", "value": rate / options.bandwidth, "seconds": seconds}


def decoded_layer(answers: int, device: str) -> dict[str, Any]:
    """Return random weights of a layer of Phi-3-medium, and a full cache of `BEHIND` tokens for each answer."""
    import torch

    widths = SHAPES["phi3-medium-4k"] if device == "cuda" else SMALL
    hidden, inner = widths["hidden_size"], widths["intermediate_size"]
    heads, shared = widths["num_attention_heads"], widths["num_key_value_heads"]
    shapes = {
        "all_heads": (hidden, (heads + 2 * shared) * HEAD),
        "out": (heads * HEAD, hidden),
        "gate_and_up": (hidden, 2 * inner),
        "down": (inner, hidden),
        "keys": (answers, shared, BEHIND, HEAD),
        "values": (answers, shared, BEHIND, HEAD),
    }
    return {name: torch.randn(shape, device=device, dtype=torch.bfloat16) / 50 for name, shape in shapes.items()}


def _one_token(layers: Sequence[dict[str, Any]], hidden: Any) -> None:
    from torch.nn.functional import scaled_dot_product_attention, silu

    for layer in layers:
        keys, values = layer["keys"], layer["values"]
        shared, width = keys.shape[1], layer["out"].shape[0]
        query, key, value = (hidden @ layer["all_heads"]).split([width, shared * HEAD, shared * HEAD], dim=-1)
        keys[:, :, -1], values[:, :, -1] = key.unflatten(-1, (shared, HEAD)), value.unflatten(-1, (shared, HEAD))
        query = query.unflatten(-1, (width // HEAD, 1, HEAD))
        attended = scaled_dot_product_attention(query, keys, values, enable_gqa=True)
        hidden = hidden + attended.flatten(1) @ layer["out"]
        gate, up = (hidden @ layer["gate_and_up"]).chunk(2, dim=-1)
        hidden = hidden + (silu(gate) * up) @ layer["down"]


def build(shape: str, layers: int, device: str) -> Any:
    """Return a Llama of so many layers with the widths of `shape` and random weights, in bfloat16."""
    import torch
    from transformers import LlamaConfig, LlamaModel

    widths = SHAPES[shape] if device == "cuda" else SMALL
    config = LlamaConfig(**widths, head_dim=HEAD, num_hidden_layers=layers, vocab_size=64, pad_token_id=0)
    with torch.device(device):
        model: Any = LlamaModel(config)
    return model.to(torch.bfloat16)


def timed(work: Callable[[], None], options: argparse.Namespace) -> float:
    """Return the median seconds of a call, after two that are not timed."""
    import torch

    seconds = []
    for _ in range(options.repeats + 2):
        start = time.perf_counter()
        work()
        if options.device == "cuda":
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    return median(seconds[2:])


def write_assumptions(path: Path, numbers: Sequence[dict[str, Any]], card: str) -> None:
    """Replace the assumptions that were measured; the others stay as they are."""
    text = path.read_text("utf-8")
    for name in sorted({number["name"] for number in numbers}):
        of_name = [number for number in numbers if number["name"] == name]
        value = f"{mean(number['value'] for number in of_name):.3g}"
        each = ", ".join(f"{number['of']} {number['value']:.3g}".strip() for number in of_name)
        text, times = re.subn(
            rf"(?m)^{name}: \[.*\]$", f'{name}: [{value}, "measured on {card} (bench.card): {each}"]', text
        )
        if times != 1:
            raise SystemExit(f"{path}: {name} stands there {times} times; expected once, on a line of its own")
    path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
