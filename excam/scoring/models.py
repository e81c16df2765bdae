"""The models that score: an address is parsed once, and opened. Nothing is loaded before the first request."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from excam.core.addresses import without_secrets
from excam.core.exceptions import InputInvalid
from excam.core.provenance import say
from excam.inference import hub_models
from excam.inference.journal import Journal
from excam.scoring import adapters, local_model, served_model
from excam.scoring.opened_model import ModelEntry, OpenedModel, Probe
from excam.scoring.options import Serving, option_name

EXAMPLE = "NAME@http://host/v1"
_SERVED = re.compile(r"(?P<name>.+)@(?P<endpoint>https?://.+)", re.IGNORECASE)  # a name may hold an @ itself
_WITHOUT_SCHEME = re.compile(r"(?P<name>.+)@(?P<host>[\w.\-]+(:\d+)?(/.*)?)")


@dataclass(frozen=True, slots=True)
class Address:
    """A parsed `--model`: an adapter, a folder with a whole model, or a model behind a server."""

    text: str
    name: str  # as the server calls it; of the hub ORG/NAME@COMMIT; else the text
    endpoint: str = ""  # of a server

    def __str__(self) -> str:
        return self.text

    @property
    def label(self) -> str:
        """Return the model's name for tables and figures: never an address, and of a folder the last parts."""
        if self.endpoint or self.text in adapters.SHIPPED:
            return self.name
        path = Path(self.text).absolute()
        path = path.parent if path.name == "files" else path  # as the workflow keeps the files of a model
        return path.name if local_model.is_weights(Path(self.text)) else f"{path.parent.name}/{path.name}"

    @property
    def shown(self) -> str:
        """Return the text for people: of a server without what may be a key."""
        return f"{self.name}@{without_secrets(self.endpoint)}" if self.endpoint else self.name


def parse(model: str | Path | Address) -> Address:
    """Return the address in the value of `--model`; a model of the hub is fetched.

    Raises InputInvalid for one that is half a server's, and as `adapters.folder`.
    """
    if isinstance(model, Address):
        return model
    text = str(model)
    if served := _SERVED.fullmatch(text):
        return Address(text, served["name"], served["endpoint"])
    if re.match(r"https?://", text, re.IGNORECASE):
        expected = served_model.without_name(text)
        raise InputInvalid(f"--model: {without_secrets(text)}: no name before it; expected {expected}")
    hub = hub_models.HUB_NAME.fullmatch(text)
    if (
        not hub
        and not Path(text).exists()
        and (half := _WITHOUT_SCHEME.fullmatch(text))
        and ("." in half["host"] or half[3])
    ):
        if "?" in text or re.search("@.*:", half["name"]):  # a query or a password, which may be secret
            raise InputInvalid(f"--model: no http:// in the address; expected {EXAMPLE}")
        raise InputInvalid(f"--model: {text}: no http:// in it; expected {half['name']}@http://{half['host']}")
    if Path(text).exists() or text in (*adapters.SHIPPED, *adapters.available()):
        if hub and Path(text).is_dir():
            say(f"{text}: the folder here, not a model of this name elsewhere; for the hub's add its @REVISION")
        return Address(text, text)
    if served := served_model.of_provider(text):
        return Address(text, *served)
    if line := served_model.hint(text):
        raise InputInvalid(f"--model: {text}: no folder or adapter of this name; {line}")
    if hub:
        folder = adapters.folder(text)
        return Address(str(folder), f"{hub['id']}@{hub_models.commit_of(folder)}")
    return Address(text, text)


def open_model(
    model: str | Path | Address,
    base: str | Path | None = None,
    serving: Serving | None = None,
    *,
    dtype: str | None = None,
    probe: Probe | None = None,
    journal: Journal | None = None,
) -> OpenedModel:
    """Open a model. `base` is the folder of an adapter's base model, `dtype` one of `local_model.DTYPES`, in which a
    model of this machine computes.

    `serving` has the engine of such a model, and says how one behind a server is asked. What a server takes is found
    out with the first question and kept in the `journal` of the answers; with `probe`, which returns what is asked
    first, at once, so that the signature says it. Raises ModelInvalid if there is no such model, InputInvalid for an
    option that it cannot have, NotInstalled in a light install.
    """
    address, serving = parse(model), serving or Serving()
    if address.endpoint:
        for option, value in (("--backend", serving.backend), ("--base", base), ("--dtype", dtype)):
            if value is not None:
                raise InputInvalid(f"{option}: found {value} for {address.name}, behind a server; leave it out")
        entry = served_model.entry_of(address.name, address.endpoint, serving)
        return served_model.opened(entry, probe, journal)
    if options := [option_name(name) for name in serving.given if name != "backend"]:
        raise InputInvalid(f"{', '.join(options)}: found for {address}, on this machine; leave it out")
    if local_model.is_weights(folder := Path(address.text)):
        if base is not None:
            raise InputInvalid(f"--base: found {base} for {folder}, a whole model; expected an adapter; leave it out")
        return replace(local_model.open_weights(folder, serving.backend, dtype), label=address.label)
    return replace(local_model.open_adapter(address.text, base, serving.backend, dtype), label=address.label)


def open_entry(at: ModelEntry, probe: Probe | None = None, journal: Journal | None = None) -> OpenedModel:
    """Open an entry of `models:`, which has the settings that `open_model` takes. Raises ModelInvalid alike."""
    return served_model.opened(at, probe, journal) if at.model.server else local_model.open_entry(at)
