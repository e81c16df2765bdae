"""The version of this release, as recorded in manifests, cards and signatures, and the seed of its experiment."""

VERSION = "0.3.0"
SHIPPED_SEED = 20260401  # of config.yaml: a report by hand draws what the workflow draws
