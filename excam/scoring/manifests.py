"""Manifests of adapters and of their base models, validated because anybody may have written them.

Fields that become part of a path, a signature or a request must match a pattern; free text is escaped when it is shown.
Other fields are kept unread.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from excam.config import HubId, Name, Wheel, first_error
from excam.core.exceptions import ModelInvalid

COMMIT = re.compile(r"[0-9a-f]{40}")
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Revision = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9:._-]*$", max_length=100)]
Words = Annotated[str, StringConstraints(max_length=1000)]
Manifest = TypeVar("Manifest", bound="_Manifest")


class _Recorded(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)


class _Manifest(_Recorded):
    EXPECTED: ClassVar[str]


class _AdapterSettings(_Recorded):
    """The recipe of an adapter: the order of the reports that it learned from (`Recipe.report`); "reader": of none."""

    report: Literal["errors-first", "explanation-first", "reader"] = "errors-first"


class BaseSettings(_Recorded):
    """The source of a base model, from its entry in the configuration."""

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
        """Return the wheel that the model came from; None if it may have another revision."""
        wheel = self.settings.wheel
        return wheel if wheel and self.revision == f"sha256:{wheel.sha256}" else None

    @property
    def pinned_hub(self) -> str | None:
        """Return the id on the hub; None if the revision is not a commit and so can change."""
        return self.settings.hub if COMMIT.fullmatch(self.revision) else None

    def public(self) -> dict[str, Any]:
        """Return what anybody may know of it: no path of this machine."""
        facts = self.model_dump(mode="json", include=set(BaseManifest.model_fields), exclude_unset=True)
        if self.origin.startswith("folder "):
            facts["origin"] = f"folder {Path(self.origin.removeprefix('folder ')).name}"
            facts["settings"]["folder"] = None
        return facts

    @property
    def described(self) -> str:
        """Return a description: where it can be fetched, or its recorded origin, with revision and licence."""
        wheel, hub = self.pinned_wheel, self.pinned_hub
        place = f"wheel {wheel.package}=={wheel.version}" if wheel else f"hub {hub}" if hub else self.origin
        return f"{place} at revision {self.revision} ({self.licence})"


class AdapterManifest(_Manifest):
    """An adapter: its name, the revision of its base, what it was trained on, the sha256 of its files."""

    EXPECTED = "the manifest of an adapter"

    model: Name
    weights: Name | None = None  # the base model's name if it is not `model`
    base: Revision
    trained_on: Name
    outputs: dict[str, Digest]
    languages: list[Words] | None = None
    inputs: dict[str, Digest] = {}
    settings: _AdapterSettings = _AdapterSettings()
    fitted: dict[str, Any] | None = None  # what a reader of passages was fitted to
    base_model: BaseManifest | None = None  # what its base model is, for those who have only the adapter


def read(path: Path, kind: type[Manifest], what: str) -> Manifest:
    """Return the manifest in a file of `what`. Raises ModelInvalid if it is missing or invalid."""
    if not path.is_file():
        raise ModelInvalid(f"{path.parent}: no {path.name}; expected the folder of {what}")
    return parse(path.read_bytes(), kind, str(path))


def parse(text: bytes, kind: type[Manifest], name: str) -> Manifest:
    """Return the manifest in a JSON text, named `name` in messages. Raises ModelInvalid if it is invalid."""
    try:
        return kind.model_validate_json(text)
    except ValidationError as problem:
        raise ModelInvalid(f"{name}: {first_error(problem)}; expected {kind.EXPECTED}") from None
