"""The version of this release, as recorded in manifests, cards and signatures."""

VERSION = "0.3.0"
