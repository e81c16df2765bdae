"""Run `excam` in the process of the tests."""

from typer.testing import CliRunner

from excam import cli


def excam(*words):
    """Run `excam WORDS`; return its exit code and what it printed."""
    return CliRunner().invoke(cli.app, [*map(str, words)])


def succeed(*words):
    """Run `excam WORDS`, which must end well."""
    done = excam(*words)
    assert done.exit_code == 0, done.output
    return done


def refusal(*words) -> str:
    """Run `excam WORDS`, which must be refused; return the one line on stderr."""
    done = excam(*words)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.output
    return done.stderr
