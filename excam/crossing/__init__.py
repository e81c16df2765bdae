"""Several metrics on the same rows: the errors that each does not see, and what changes with the language."""
