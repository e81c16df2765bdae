"""What is recorded of an adapter and of its base model, from files that anybody may have written.

What becomes part of a path, a signature or a request is held to a pattern; words for people may say anything, and are
escaped where they are shown. Fields that are not listed here are kept and not looked at.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from excam.config import HubId, Name, Wheel, one_line
from excam.exceptions import ModelInvalid

COMMIT = re.compile(r"[0-9a-f]{40}")
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Revision = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9:._-]*$", max_length=100)]
Words = Annotated[str, StringConstraints(max_length=1000)]
Manifest = TypeVar("Manifest", bound="_Manifest")


class _Manifest(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)
    EXPECTED: ClassVar[str]


class AdapterManifest(_Manifest):
    """An adapter: its name, the revision of its base, what it was trained on, the sha256 of its files."""

    EXPECTED = "the manifest of an adapter"

    model: Name
    weights: Name | None = None  # the base model's name where it is not `model`
    base: Revision
    trained_on: Name
    outputs: dict[str, Digest]
    languages: list[Words] | None = None
    inputs: dict[str, Digest] = {}


class BaseSettings(BaseModel):
    """The part of a base model's entry in the configuration that says what it is and where it came from."""

    model_config = ConfigDict(extra="allow", frozen=True)

    hub: HubId | None = None
    wheel: Wheel | None = None
    folder: str | None = None
    chat_template: Name | None = None


class BaseManifest(_Manifest):
    """A base model: revision, licence, origin in words, settings, the sha256 of its files."""

    EXPECTED = "the manifest of a base model"

    revision: Revision
    licence: Words
    origin: Words = "no origin recorded"
    settings: BaseSettings
    outputs: dict[str, Digest]

    @property
    def pinned_wheel(self) -> Wheel | None:
        """The wheel it came from; None where that need not be of this revision."""
        wheel = self.settings.wheel
        return wheel if wheel and self.revision == f"sha256:{wheel.sha256}" else None

    @property
    def pinned_hub(self) -> str | None:
        """The id of the hub it came from; None where the revision is no commit, which alone cannot change."""
        return self.settings.hub if COMMIT.fullmatch(self.revision) else None

    @property
    def described(self) -> str:
        """It in words: where it can be fetched, else what its origin is said to be; revision and licence."""
        wheel, hub = self.pinned_wheel, self.pinned_hub
        place = f"wheel {wheel.package}=={wheel.version}" if wheel else f"hub {hub}" if hub else self.origin
        return f"{place} at revision {self.revision} ({self.licence})"


def read(path: Path, kind: type[Manifest], what: str) -> Manifest:
    """Return the manifest in a file; `what` has it. Raises ModelInvalid where there is none, or it is not sound."""
    if not path.is_file():
        raise ModelInvalid(f"{path.parent}: no {path.name}; expected the folder of {what}")
    return parse(path.read_bytes(), kind, str(path))


def parse(text: bytes, kind: type[Manifest], name: str) -> Manifest:
    """Return the manifest in a JSON text; `name` is what a message calls it. Raises ModelInvalid."""
    try:
        return kind.model_validate_json(text)
    except ValidationError as problem:
        raise ModelInvalid(f"{name}: {one_line(problem)}; expected {kind.EXPECTED}") from None
