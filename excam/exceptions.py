"""What can go wrong, as types. "Error" alone always means a cultural error, so no class here is called that."""


class ExcamError(Exception):
    """Something the user can act on. Its text is one line: what, found, expected, next."""


class ConfigInvalid(ExcamError):
    """The configuration cannot be an experiment."""


class SourceInvalid(ExcamError):
    """A benchmark's files are missing, changed or empty."""


class InputInvalid(ExcamError):
    """A file or a value handed in by the user is not usable."""


class ModelInvalid(ExcamError):
    """A model or an adapter cannot be loaded or used as asked."""


class ArtifactBroken(ExcamError):
    """A file of an earlier step is not what its manifest says."""
