#!/usr/bin/env bash
# Rewrite the lock files from the .in files with `uv` (pip install uv). Exact pins and hashes, no index addresses.
# torch: the CPU build is locked; where uv cannot find it, name its folder or page in UV_FIND_LINKS.
# torchvision, torchaudio and torchcodec have no CPU build to go with it and break vLLM: they are left out.
set -euo pipefail
cd "$(dirname "$0")"
for name in core dev vllm; do
  uv pip compile --quiet --python-version 3.11 --no-emit-index-url --no-emit-find-links --generate-hashes \
    --no-emit-package torchvision --no-emit-package torchaudio --no-emit-package torchcodec \
    --custom-compile-command requirements/compile.sh "$name.in" --output-file "$name.lock"
  sed -i 's/^torch==\([0-9.]*\)+cpu/torch==\1/' "$name.lock"
done
