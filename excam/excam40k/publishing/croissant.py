"""Machine-readable metadata of the build: Croissant 1.0 as JSON-LD, with files and hashes, file sets, record fields."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from excam.core.provenance import sha256
from excam.core.release import VERSION
from excam.excam40k.publishing.about import EXCAM
from excam.excam40k.publishing.columns import COLUMNS, ERROR_COLUMNS
from excam.excam40k.publishing.parts import Part

PARQUET = "application/x-parquet"
_TYPES = {"text": "sc:Text", "integer": "sc:Integer", "number": "sc:Float", "boolean": "sc:Boolean"}

# The context of the specification, word for word, as far as its terms occur here.
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


def croissant_metadata(name: str, text: str, parts: Sequence[Part], folder: Path) -> dict[str, Any]:
    """Return the metadata of a build whose files are in `folder`. No dates: the same rows give the same bytes."""
    licences = sorted({part.licence for part in parts})
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": name,
        "description": text,
        "license": [
            licence if licence.startswith("LicenseRef-") else f"https://spdx.org/licenses/{licence}.html"
            for licence in licences
        ],
        "url": "./",
        "version": VERSION,
        "citeAs": EXCAM,
        "isLiveDataset": False,
        "distribution": [entry for part in parts for entry in _file_objects(part, folder)],
        "recordSet": [_record_set(part) for part in parts],
    }


def _file_objects(part: Part, folder: Path) -> Iterable[dict[str, Any]]:
    for file in part.files:
        yield {
            "@type": "cr:FileObject",
            "@id": file,
            "name": file,
            "contentUrl": file,
            "contentSize": f"{(folder / file).stat().st_size} B",
            "encodingFormat": PARQUET,
            "sha256": sha256(folder / file),
        }
    yield {
        "@type": "cr:FileSet",
        "@id": f"{part.dataset}-files",
        "name": f"{part.dataset}-files",
        "description": f"All splits of {part.title}, under {part.licence}.",
        "encodingFormat": PARQUET,
        "includes": f"{part.folder}/*.parquet",
    }


def _record_set(part: Part) -> dict[str, Any]:
    fields = [_field(part, name, kind, text) for name, (kind, text) in COLUMNS.items()]
    return {
        "@type": "cr:RecordSet",
        "@id": part.dataset,
        "name": part.dataset,
        "description": f"Rows made from {part.title}; `split` says which are for what.",
        "key": {"@id": f"{part.dataset}/id"},
        "field": fields,
    }


def _field(part: Part, name: str, kind: str, text: str) -> dict[str, Any]:
    here = {"@type": "cr:Field", "@id": f"{part.dataset}/{name}", "name": name, "description": text}
    source = {"fileSet": {"@id": f"{part.dataset}-files"}, "extract": {"column": name}}
    if kind == "errors":
        inner = [
            {
                "@type": "cr:Field",
                "@id": f"{part.dataset}/{name}/{key}",
                "name": key,
                "description": what,
                "dataType": _TYPES[of],
                "repeated": True,
                "source": {**source, "transform": {"jsonPath": f"$['{key}']"}},
            }
            for key, (of, what) in ERROR_COLUMNS.items()
        ]
        return {**here, "repeated": True, "subField": inner}
    if kind == "list of text":
        return {**here, "dataType": "sc:Text", "repeated": True, "source": source}
    return {**here, "dataType": _TYPES[kind], "source": source}
