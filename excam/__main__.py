"""`python -m excam` is `excam`."""

from excam.cli import app

app()
