"""Values for `params`: labelled, so that swapped ones are seen, and only what decides the output of the stage."""


class Asked:
    """What the rule of a job that asks a model says of it; `name_of` returns its name for wildcards, "" for none."""

    def __init__(self, name_of):
        self.name_of = name_of

    def entry(self, wildcards):
        name = self.name_of(wildcards)
        return EXPERIMENT.models[name] if name else None

    def weights(self, wildcards):
        """Its weights, where it is local."""
        model = self.entry(wildcards)
        return weights_of(self.name_of(wildcards)) if model and model.is_local else []

    def settings(self, wildcards):
        """How it is asked. Where it is fetched from, on how many GPUs it runs, what it costs decides nothing."""
        model = self.entry(wildcards)
        return model.request_settings if model else "null"

    def gpus(self, wildcards):
        model = self.entry(wildcards)
        return model.gpus if model else 0

    def pace(self, wildcards):
        model = self.entry(wildcards)
        return model.speed_settings if model else "{}"

    def answers(self, wildcards):
        """The stage of its backend."""
        model = self.entry(wildcards)
        return [f"answers.{model.backend}"] if model else []


MODEL = Asked(lambda wildcards: wildcards.model)


def flag(name, source):
    """`--name` and its value where the input is there (the first file of several), nothing where it is not."""

    def of(wildcards):
        value = source(wildcards)
        return [f"--{name}", value[0] if isinstance(value, list) else value] if value else []

    return of
