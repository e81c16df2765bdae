"""Names that a configuration may use because a file of that name exists: the folder is the registry."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from excam.core.exceptions import ConfigInvalid

PACKAGE = Path(__file__).parents[1]
LAYOUTS = PACKAGE / "training" / "layouts"
CHAT_TEMPLATES = PACKAGE / "inference" / "chat_templates"


def modules_in(package: str) -> tuple[str, ...]:
    """Return the public modules of a sub-package, as named in the configuration (with hyphens), sorted."""
    folder = PACKAGE / package
    names = (path.stem for path in folder.glob("*.py") if path.stem != "base" and not path.stem.startswith("_"))
    return tuple(sorted(name.replace("_", "-") for name in names))


def load_module(package: str, name: str) -> Any:
    """Return the module of a sub-package with that name. Raises ConfigInvalid, listing the known names, without one."""
    names, kind = modules_in(package), Path(package).name
    if name not in names:
        raise ConfigInvalid(
            f"{kind}: no such {kind.removesuffix('s')} {name!r}; known: {', '.join(names)}; "
            f"add excam/{package}/<name>.py for a new one"
        )
    return import_module(f"excam.{package}.{name}".replace("/", ".").replace("-", "_"))


def stems(folder: Path, pattern: str) -> tuple[str, ...]:
    """Return the sorted names, without suffix, of the files of a folder that match a pattern."""
    return tuple(sorted(path.stem for path in folder.glob(pattern)))
