"""Settings, inputs and targets of Macaron: what its rules and pages are made of."""

from excam.macaron import source as macaron_source

MACARON = EXPERIMENT.macaron
MACARON_MODES = ["choose", "letter", "text", "thinking"]
MACARON_FILES = files_named("macaron.folder", macaron_source.files)
MACARON_SHEETS = files_named("macaron.written", lambda folder: macaron_source.sheets(folder, EXPERIMENT.models))


wildcard_constraints:
    mode=one_of(MACARON_MODES),
    sheet=one_of(sorted(Path(name).stem for name in MACARON_SHEETS)),


def proofreader_name():
    """The model that proofreads Macaron, "" if there is none."""
    return MACARON.proofreader or "" if MACARON else ""


ASKED["proofreader"] = Asked(lambda _: proofreader_name())


def answers_of(wildcards):
    """The answers of one model in each mode."""
    return [path for path in macaron_answers() if Path(path).parent.name == wildcards.answerer]


def macaron_answers():
    """The answers of each model in each mode, and written sheets."""
    if not MACARON:
        return []
    asked = [(model, mode) for model in dict.fromkeys(MACARON.models) for mode in dict.fromkeys(MACARON.modes)]
    asked += [(model, "thinking") for model in dict.fromkeys(MACARON.thinking)]
    return [f"results/macaron/answers/{model}/{mode}.parquet" for model, mode in asked] + [
        f"results/macaron/answers/{Path(sheet).stem}/written.parquet" for sheet in MACARON_SHEETS
    ]


def answerers():
    """The models that answer, and the sheets."""
    return list(dict.fromkeys(Path(path).parent.name for path in macaron_answers()))


def macaron_pages():
    """Every table, figure and page of rows of Macaron; none where it is switched off."""
    return [*pages_of("macaron"), *(f"results/macaron/rows/{name}.html" for name in answerers())]


FILES |= {  # sets of files that its steps name
    "macaron_answers_of": answers_of,
    "macaron_built": f"results/macaron/{'built' if proofreader_name() else 'scenarios'}.parquet",
    "macaron_files": MACARON_FILES,
    "macaron_proofread": f"results/macaron/{'scenarios' if proofreader_name() else 'proofread'}.parquet",
    "macaron_sheet": lambda w: os.path.join(MACARON.written, f"{w.sheet}.csv"),
    "macaron_answers": macaron_answers(),
    "macaron_instances": ["results/macaron/instances.parquet"] if MACARON else [],
    "macaron_scenarios": ["results/macaron/scenarios.parquet"] if MACARON else [],
}
SETTINGS |= {
    "macaron_answerers": answerers(),
    "macaron_minutes": lambda w: 240 if w.mode == "thinking" else 60,
    "macaron_proofreader": proofreader_name(),
    "macaron_columns": json.dumps(MACARON.columns if MACARON else {}, sort_keys=True),
    "macaron_categories": json.dumps(MACARON.categories if MACARON else {}, sort_keys=True),
}
