"""Names that a configuration may use because there is a file of that name: the directory is the registry."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).parents[1]
LAYOUTS = PACKAGE / "training" / "layouts"
CHAT_TEMPLATES = PACKAGE / "inference" / "chat_templates"


def modules_in(package: str) -> tuple[str, ...]:
    """Names, as used in the configuration, of the modules of a sub-package: the directory is the registry."""
    folder = PACKAGE / package
    names = (path.stem for path in folder.glob("*.py") if path.stem != "base" and not path.stem.startswith("_"))
    return tuple(sorted(name.replace("_", "-") for name in names))


def stems(folder: Path, pattern: str) -> tuple[str, ...]:
    """Names of the files of a folder that match."""
    return tuple(sorted(path.stem for path in folder.glob(pattern)))
