"""Values for `params`: labelled, so that swapped ones are seen, and only what decides the output of the stage."""

from excam.excam40k.invented import world as invented_world


def model_settings(wildcards):
    """How a model is asked. Where it is fetched from, on how many GPUs it runs, what it costs decides nothing."""
    return EXPERIMENT.models[wildcards.model].request_settings


def recipe(wildcards):
    return EXPERIMENT.recipe(wildcards.model).adapter_settings


def templates(wildcards):
    """The stages of the templates that a benchmark's rows are wrapped in."""
    from excam.excam40k.construction.wrapping import forms

    return [f"templates.{form}" for form in forms(BENCHMARKS[wildcards.dataset].TASK)]


def licence_terms(name):
    """What the licence of a benchmark asks, in words; null if that is not known."""
    source = BENCHMARKS[name].SOURCE
    asked = terms(source.licence, source.terms)
    return None if asked is None else sorted(asked)


def licences():
    """Licence, its terms and the module of each benchmark, as JSON: a changed table of licences is another value."""
    said = {
        name: [
            benchmark.SOURCE.licence,
            licence_terms(name),
            benchmarks.place_of(name, EXPERIMENT.datasets[name].module),
        ]
        for name, benchmark in BENCHMARKS.items()
    }
    return json.dumps(said, sort_keys=True)


def flag(name, source):
    """`--name` and its value where the input is there (the first file of several), nothing where it is not."""

    def of(wildcards):
        value = source(wildcards)
        return [f"--{name}", value[0] if isinstance(value, list) else value] if value else []

    return of
