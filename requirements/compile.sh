#!/usr/bin/env bash
# Rewrite the lock files from the .in files with uv (`pip install uv`): exact pins for all supported Pythons and platforms,
# the hashes of all files of each release, no index addresses. A pin that stands in a lock stays; delete the lock to
# resolve it from nothing.
#
# PyTorch is apart, since its build for Linux on the package index does not start without CUDA's libraries, while its CPU
# builds (torch X+cpu) are on a page of PyTorch's own. setup.sh installs core, dev or vllm, and then either
# torch-cpu.lock (written by hand), or torch.lock and, where there is a card, card.lock. vllm-cuda.lock has all in it.
set -euo pipefail
cd "$(dirname "$0")"
unset UV_FIND_LINKS UV_INDEX UV_EXTRA_INDEX_URL

compile() { # name, options: NAME.in -> NAME.lock
  uv pip compile --quiet --no-config --fork-strategy fewest --python-version 3.11 --generate-hashes \
    --no-emit-index-url --custom-compile-command requirements/compile.sh "$1.in" --output-file "$1.lock" "${@:2}"
}
entries() { awk -v wanted="^($1)" '/^#/ && !started { print } /^[a-z0-9]/ { started = 1; keep = $0 ~ wanted } keep' "$2"; }
names() { grep -hoE '^[a-z0-9-]+==' "$@" | tr -d '='; }
without() { printf -- '--no-emit-package %s ' "$@"; }

compile uv --universal
compile torch --universal --constraints core.lock
entries 'triton|cuda-bindings|cuda-pathfinder' torch.lock > card.lock
entries 'torch|nvidia-|cuda-toolkit' torch.lock > torch.tmp && mv torch.tmp torch.lock

compile core --universal $(without $(names torch.lock card.lock))
compile dev --universal $(without $(names torch.lock card.lock))
# vLLM: Linux on x86-64 only; its CPU package asks for torch X+cpu, which the index does not have, and its xgrammar for
# triton. torchvision, torchaudio and torchcodec break it on a CPU.
compile vllm --python-platform x86_64-manylinux_2_28 --overrides torch.in \
  $(without $(names torch.lock card.lock | grep -v triton) torchvision torchaudio torchcodec)
# vLLM on cards: all in one lock. The torch of torch.lock, and not card.lock, whose cuda-bindings are newer than what vLLM takes.
compile vllm-cuda --python-platform x86_64-manylinux_2_28 --constraints torch.lock
