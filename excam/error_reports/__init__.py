"""ExCAM's metric: error reports, the prompts that ask models for them, the score, and the evaluation of judges."""

from excam.error_reports.records import CulturalError, Report, Unreadable

__all__ = ["CulturalError", "Report", "Unreadable", "read"]


def read(text: str) -> Report | Unreadable:
    """Return the error report in a model's answer, or the reason why it holds none (`judges.report.REASONS`)."""
    from excam.error_reports.judges import report

    return report.read(text)
