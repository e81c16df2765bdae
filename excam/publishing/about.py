"""The nine benchmarks in words: printed name, task as the paper groups them, the work to cite; codes of languages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from excam.records import Task


@dataclass(frozen=True, slots=True)
class About:
    """What a reader wants to know of a benchmark beside its source and licence."""

    name: str
    task: Task | str  # spec 2; a row's own task also says where a question stands without its options
    cite: str = ""


ABOUT: Mapping[str, About] = {
    "blend": About(
        "BLEnD",
        "qa",
        "Myung et al. 2024. BLEnD: A Benchmark for LLMs on Everyday Knowledge in Diverse Cultures and Languages. "
        "Advances in Neural Information Processing Systems 37",
    ),
    "calmqa": About(
        "CaLMQA",
        "freeform",
        "Arora et al. 2025. CaLMQA: Exploring culturally specific long-form question answering across 23 languages. "
        "Proceedings of ACL 2025",
    ),
    "culturalbench": About(
        "CulturalBench",
        "qa",
        "Chiu et al. 2025. CulturalBench: A Robust, Diverse and Challenging Benchmark for Measuring LMs' Cultural "
        "Knowledge Through Human-AI Red-Teaming. Proceedings of ACL 2025",
    ),
    "epic": About(
        "EPIC",
        "impersonation",
        "Frenda et al. 2023. EPIC: Multi-Perspective Annotation of a Corpus of Irony. Proceedings of ACL 2023",
    ),
    "globalopinionqa": About(
        "GlobalOpinionQA",
        "impersonation",
        "Durmus et al. 2023. Towards Measuring the Representation of Subjective Global Opinions in Language Models. "
        "arXiv:2306.16388",
    ),
    "include": About(
        "INCLUDE",
        "qa",
        "Romanou et al. 2025. INCLUDE: Evaluating Multilingual Language Understanding with Regional Knowledge. "
        "Proceedings of ICLR 2025",
    ),
    "mango": About(
        "Mango",
        "generation",
        "Nguyen, Razniewski and Weikum 2024. Cultural Commonsense Knowledge for Intercultural Dialogues. CIKM 2024",
    ),
    "nativqa": About(
        "NativQA",
        "freeform",
        "Hasan et al. 2025. NativQA: Multilingual Culturally-Aligned Natural Query for LLMs. Findings of ACL 2025",
    ),
    "normad": About(
        "NormAd",
        "impersonation",
        "Rao et al. 2025. NormAd: A Framework for Measuring the Cultural Adaptability of Large Language Models. "
        "Proceedings of NAACL 2025",
    ),
}

EXCAM = "Leiter et al. ExCAM: Explainable Cultural Awareness Metrics"

# ISO 639: two letters where there are two.
_CODES = """
Afar aa, Albanian sq, Arabic ar, Armenian hy, Assamese as, Azerbaijani az, Balochi bal, Basque eu, Belarusian be,
Bengali bn, Bulgarian bg, Chinese zh, Croatian hr, Dutch nl, English en, Estonian et, Faroese fo, Fijian fj, Finnish fi,
French fr, Georgian ka, German de, Greek el, Hebrew he, Hiligaynon hil, Hindi hi, Hungarian hu, Indonesian id,
Italian it, Japanese ja, Kazakh kk, Kirundi rn, Korean ko, Lithuanian lt, Macedonian mk, Malay ms, Malayalam ml,
Nepali ne, North Macedonian mk, Papiamento pap, Pashto ps, Persian fa, Polish pl, Portuguese pt, Russian ru,
Samoan sm, Serbian sr, Spanish es, Tagalog tl, Tamil ta, Telugu te, Tongan to, Tswana tn, Turkish tr,
Ukrainian uk, Urdu ur, Uzbek uz, Vietnamese vi, Wolof wo
"""
_CODE_OF: Mapping[str, str] = dict(re.findall(r"([A-Z][\w ]+) (\w+)", _CODES))


def about(dataset: str) -> About:
    """What is known of a benchmark; a new one goes by its own name until it has an entry here."""
    return ABOUT.get(dataset, About(dataset, "–"))


def codes(languages: Iterable[str]) -> list[str]:
    """ISO 639 codes of languages by their English names, sorted; a name without an entry has none."""
    return sorted({_CODE_OF[name] for name in languages if name in _CODE_OF})
