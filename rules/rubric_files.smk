"""Settings, inputs and targets of the rubric: what its rules and pages are made of."""

from excam.rubric import changes as rubric_changes, responses as rubric_responses

RUBRIC = EXPERIMENT.rubric
RUBRIC_FILES = {
    "responses": files_named("rubric.responses", rubric_responses.files),
    "ratings": files_named("rubric.people", rubric_responses.files),
    "version": files_named("rubric.version", lambda path: [path] if path.name.endswith(".yaml") else []),
}
if RUBRIC:
    try:
        rubric_changes.opened(RUBRIC.version)
    except ExcamError as problem:
        raise WorkflowError(str(problem)) from None


def rubric_people():
    """The evaluator and the validators of the rubric, in this order."""
    return [RUBRIC.evaluator, *RUBRIC.validators] if RUBRIC and RUBRIC.evaluator else []


def rubric_ratings():
    """The ratings of each model."""
    return (
        [f"results/rubric/raters/{model}/ratings.parquet" for model in dict.fromkeys(RUBRIC.models)] if RUBRIC else []
    )


def rubric_pages():
    """Every table and page about ratings, and the campaign, if somebody is to rate; none where it is switched off."""
    rated = pages_of("rubric") if RUBRIC and (RUBRIC.models or RUBRIC.people) else []
    drawn = ["results/rubric/campaign.json", "results/rubric/campaign.html"] if RUBRIC and RUBRIC.evaluator else []
    return [*rated, *drawn]


FILES |= {  # sets of files that its steps name
    "rubric_ratings": [*RUBRIC_FILES["ratings"], *rubric_ratings()],
    "rubric_responses": RUBRIC_FILES["responses"],
    "rubric_version": RUBRIC_FILES["version"],
}
SETTINGS |= {
    "rubric_raters": rubric_people(),
    "rubric_version": RUBRIC.version if RUBRIC else "",
}
