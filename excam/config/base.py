"""What all sections share: strict fields, patterns of names, and the refusal of an entry in one line."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

from excam.core.escapes import visible_line
from excam.core.exceptions import ConfigInvalid

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+([.-][a-z0-9]+)*$", max_length=60)]
# A benchmark may be called as its Python module; a mixture is called after the benchmark that it leaves out.
DatasetName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+([._-][a-z0-9]+)*$", max_length=60)]
# An experiment may be from an untrusted source: pip and the hub get plain names, never options or addresses.
Package = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$", max_length=100)  # as in PEP 508
]
Version = Annotated[str, StringConstraints(pattern=r"^[0-9][A-Za-z0-9.!+_-]*$", max_length=60)]  # as in PEP 440
HubId = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)?$", max_length=200)
]
HubRevision = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_./-]*$", max_length=200)]
ModuleName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.]+$", max_length=200)]  # PEFT would take patterns
IN_WORDS = {  # what a message says in place of a pattern
    r"^[a-z0-9]+([.-][a-z0-9]+)*$": "lower-case letters and digits, with . or - between them, such as my-model",
    r"^[a-z0-9]+([._-][a-z0-9]+)*$": "lower-case letters and digits, with . _ or - between them, such as my-rows",
    r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$": "letters and digits, with . _ or - between, such as bert-score",
    r"^[0-9][A-Za-z0-9.!+_-]*$": "a version, such as 1.2.0",
    r"^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)?$": "an id of the hub, such as owner/name",
    r"^[A-Za-z0-9_][A-Za-z0-9_./-]*$": "a commit, branch or tag of the hub, such as main",
    r"^[A-Za-z0-9_.]+$": "the name of a part of the model, such as q_proj",
    r"^[0-9a-f]{64}$": "a SHA-256: 64 hexadecimal digits in lower case",
    r"^https?://[^\s@]+$": "an address such as https://host/v1, without a user's name",
    r"^[A-Za-z0-9][A-Za-z0-9:._-]*$": "letters and digits, behind the first one also : . _ -",
}
EACH = "without-each"  # `load` replaces it by one leave-one-out mixture per dataset
LEXICON = "lexicon"  # the soft-error generator without a model (excam/excam40k/construction/lexicon.py)
RESERVED = ("all", "permissive", "nothing")  # what stands in the place of a data set, or of a mixture


class Section(BaseModel):
    """A part of the configuration: immutable, and unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


@dataclass(frozen=True)
class Place:
    """Where an experiment is written: its file, as messages name it."""

    file: str

    def invalid(self, problem: str) -> ConfigInvalid:
        """Return the error of an entry; `problem` begins with the path of the entry."""
        return ConfigInvalid(f"{self.file}: {problem}")

    def known(self, value: str, entry: str, what: str, names: Sequence[str], otherwise: str = "") -> None:
        """Raise ConfigInvalid if an entry names something that is not among `names`.

        Args:
            value: what the entry says
            entry: its path, such as `tuned.models`
            what: what it names, such as "model"
            names: what it may be
            otherwise: the end of the message: what else helps
        """
        if value not in names:
            close = difflib.get_close_matches(value, names, n=1)
            hint = f"did you mean `{close[0]}`? " if close else ""
            raise self.invalid(
                f"{entry}: no such {what}: `{json_escaped(value)}`; {hint}known: {', '.join(names)}{otherwise}"
            )

    def known_models(self, section: Section, entry: str, roles: Sequence[str], models: Sequence[str]) -> None:
        """Raise ConfigInvalid if a role of a section, one model or several, names a model that is not there.

        Args:
            section: that has the roles
            entry: the path of the section
            roles: names of its fields, each with a model, several or none
            models: the entries of `models:`
        """
        for role in roles:
            named = getattr(section, role)
            for name in [named] if isinstance(named, str) else named or ():
                self.known(name, f"{entry}.{role}", "model", models)


def json_escaped(text: str) -> str:
    """Return a text with control characters and quotes escaped as in JSON, in one line, without quotes around it."""
    return visible_line(json.dumps(text, ensure_ascii=False)[1:-1])
