"""Write synthetic raw files: `python -m bench.raw FOLDER`."""

from __future__ import annotations

import argparse
from pathlib import Path

from bench import raw


def main() -> None:
    parser = argparse.ArgumentParser(description=raw.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    for name, rows in raw.write(args.folder, args.scale, args.seed).items():
        print(f"{name:<16} {rows:>8,}")


if __name__ == "__main__":
    main()
