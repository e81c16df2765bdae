"""Values for `params`: labelled, so that swapped ones are seen, and only what decides the output of the stage."""

# What takes the place of a model where none is asked.
NOBODY = SimpleNamespace(is_local=False, request_settings="null", gpus=0, speed_settings="{}", backend="")


class Asked:
    """What the rule of a job that asks a model says of it; `name_of` returns its name for wildcards, "" for none.

    Jobs of one `group` may share an engine.
    """

    def __init__(self, name_of, group=None):
        self.name_of, self.group = name_of, group

    def entry(self, wildcards):
        name = self.name_of(wildcards)
        return EXPERIMENT.models[name] if name else NOBODY

    def weights(self, wildcards):
        """Its weights, where it is local."""
        return weights_of(self.name_of(wildcards)) if self.entry(wildcards).is_local else []

    def settings(self, wildcards):
        """How it is asked. Where it is fetched from, on how many GPUs it runs, what it costs decides nothing."""
        return self.entry(wildcards).request_settings

    def gpus(self, wildcards):
        return self.entry(wildcards).gpus

    def pace(self, wildcards):
        return self.entry(wildcards).speed_settings

    def answers(self, wildcards):
        """The stage of its backend."""
        backend = self.entry(wildcards).backend
        return [f"answers.{backend}"] if backend else []

    def memory(self, wildcards, attempt):
        return host_memory(self.name_of(wildcards), attempt)

    def resources(self, minutes, **other):
        """What a job needs that asks it: `minutes` at the first attempt, a number or a function of wildcards."""
        return {
            "gpu": self.gpus,
            "model": 1,
            "engine": 1,
            "mem_mb": self.memory,
            "runtime": lambda w, attempt: (minutes(w) if callable(minutes) else minutes) * attempt,
            "pace": self.pace,
        } | other

    @property
    def params(self):
        """What decides its answers, beside what it is asked: `model`, `weights` and `seed`."""
        return {"model": self.settings, "weights": flag("weights", self.weights), "seed": EXPERIMENT.seed}


MODEL = Asked(lambda wildcards: wildcards.model, group="engine_{model}")


def flag(name, source):
    """`--name` and its value where the input is there (the first file of several), nothing where it is not."""

    def of(wildcards):
        value = source(wildcards)
        return [f"--{name}", value[0] if isinstance(value, list) else value] if value else []

    return of
