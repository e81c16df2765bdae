"""Rubric: responses -> a campaign for people; ratings of models, settled by the rules -> all ratings together -> quality (pages)."""


localrules:
    rubric_campaign,
    rubric_settle,
    rubric_collect,


rule rubric_campaign:
    """Draw who rates which response: the campaign with the rater's form, and the page that needs no server."""
    input:
        responses=RUBRIC_FILES["responses"],
        manual=RUBRIC_FILES["version"],
    output:
        campaign="results/rubric/campaign.json",
        page="results/rubric/campaign.html",
    log:
        "logs/rubric_campaign.log",
    benchmark:
        "benchmarks/rubric_campaign.tsv"
    conda:
        "../envs/data.yaml"
    params:
        **RUBRIC_MANUAL,
        version=versions("rubric_campaign"),
        raters=rubric_people(),
        overlap=RUBRIC.overlap if RUBRIC else 0,
        calibration=RUBRIC.calibration if RUBRIC else 0,
        seed=EXPERIMENT.seed,
    shell:
        "python -m scripts rubric_campaign --rubric {params.rubric:q} --base {params.base:q} --raters {params.raters:q}"
        " --overlap {params.overlap:q} --calibration {params.calibration:q} --seed {params.seed:q}"
        " --responses {input.responses:q} --campaign {output.campaign:q} --page {output.page:q} 2>&1 | tee {log:q}"


rule rubric_rate:
    """Ask one model to rate every response."""
    input:
        responses=RUBRIC_FILES["responses"],
        manual=RUBRIC_FILES["version"],
        weights=MODEL.weights,
    output:
        transcript="results/rubric/raters/{model}/transcript.jsonl",
        manifest="results/rubric/raters/{model}/manifest.json",
    log:
        "logs/rubric_rate/{model}.log",
    benchmark:
        "benchmarks/rubric_rate/{model}.tsv"
    group:
        "engine_{model}"
    conda:
        "../envs/inference.yaml"
    threads: 8
    resources:
        **MODEL.resources(minutes=120),
    params:
        **MODEL.params,
        **RUBRIC_MANUAL,
        version=versions("rubric_rate", "rubric/asks", MODEL.answers),
        ask=RUBRIC.mode if RUBRIC else "text",
    shell:
        "python -m scripts rubric_rate --name {wildcards.model:q} --model {params.model:q} --gpus {resources.gpu:q}"
        " --pace {resources.pace:q} {params.weights:q} --rubric {params.rubric:q} --base {params.base:q}"
        " --ask {params.ask:q} --responses {input.responses:q} --seed {params.seed:q}"
        " --journal results/journal/rubric/{wildcards.model:q}.jsonl"
        " --transcript {output.transcript:q} --manifest {output.manifest:q} 2>&1 | tee {log:q}"


rule rubric_settle:
    """Parse a transcript into ratings, and settle them by the rules. New rules need no model."""
    input:
        responses=RUBRIC_FILES["responses"],
        manual=RUBRIC_FILES["version"],
        transcript="results/rubric/raters/{model}/transcript.jsonl",
    output:
        ratings="results/rubric/raters/{model}/ratings.parquet",
    log:
        "logs/rubric_settle/{model}.log",
    benchmark:
        "benchmarks/rubric_settle/{model}.tsv"
    conda:
        "../envs/data.yaml"
    params:
        **RUBRIC_MANUAL,
        version=versions("rubric_settle", "rubric/asks"),
        ask=RUBRIC.mode if RUBRIC else "text",
    shell:
        "python -m scripts rubric_settle --name {wildcards.model:q} --rubric {params.rubric:q} --base {params.base:q}"
        " --ask {params.ask:q} --responses {input.responses:q} --transcript {input.transcript:q}"
        " --ratings {output.ratings:q} 2>&1 | tee {log:q}"


rule rubric_collect:
    """Check the ratings of people, and put them and those of models into one table. Fails where a rule is broken."""
    input:
        responses=RUBRIC_FILES["responses"],
        manual=RUBRIC_FILES["version"],
        ratings=[*RUBRIC_FILES["ratings"], *rubric_ratings()],
    output:
        ratings="results/rubric/ratings.parquet",
    log:
        "logs/rubric_collect.log",
    benchmark:
        "benchmarks/rubric_collect.tsv"
    conda:
        "../envs/data.yaml"
    params:
        **RUBRIC_MANUAL,
        version=versions("rubric_collect"),
    shell:
        "python -m scripts rubric_collect --rubric {params.rubric:q} --base {params.base:q}"
        " --responses {input.responses:q} --given {input.ratings:q} --ratings {output.ratings:q} 2>&1 | tee {log:q}"
