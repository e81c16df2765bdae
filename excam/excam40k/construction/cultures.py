"""The name of a culture inside a sentence: "the Philippines", "Swedish culture", "the Spanish-speaking world"."""

from __future__ import annotations

from excam.error_reports.records import Task

WITH_ARTICLE = frozenset(
    {
        *("Bahamas", "Central African Republic", "Comoros", "Czech Republic", "Democratic Republic of the Congo"),
        *("Dominican Republic", "Gambia", "Maldives", "Marshall Islands", "Netherlands", "Palestinian Territories"),
        *("Philippines", "Republic of the Congo", "Seychelles", "Solomon Islands", "UK", "US"),
        *("United Arab Emirates", "United Kingdom", "United States", "Vatican"),
    }
)


def in_a_sentence(culture: str, language: str, task: Task) -> str:
    """Return the name of a culture as it reads in running text; empty where there is none.

    A topic of Mango names a people ("Swedish"); CaLMQA gives only the language, which is used as the culture.
    """
    if culture and culture == language:
        return f"the {culture}-speaking world"
    if culture and task == "generation" and not culture.casefold().endswith(("culture", "cultures")):
        return f"{culture} culture"
    return f"the {culture}" if culture in WITH_ARTICLE else culture
