"""What `lexicon` knows about families of words, languages and regions: types, phrasings, endings, traps."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

import regex

TYPES: Mapping[str, str] = {
    "dish": "incorrect information about food",
    "drink": "incorrect information about food and drink",
    "festival": "incorrect information about festivals",
    "garment": "incorrect information about clothing",
    "greeting": "misrepresented form of greeting",
    "currency": "incorrect information about a country",
    "dance": "incorrect information about traditions",
    "instrument": "incorrect information about traditions",
    "game": "incorrect information about sports and games",
    "religion": "misrepresentation of religious practice",
    "city": "incorrect information about places",
    "landmark": "incorrect information about places",
    "number": "incorrect information about a custom",
    "weekday": "incorrect information about the time of a custom",
    "month": "incorrect information about the time of a custom",
    "season": "incorrect information about the time of a custom",
    "colour": "misrepresented symbolism",
    "meal": "incorrect information about meals",
    "daytime": "incorrect information about the time of a custom",
    "family": "misrepresented family roles",
    "role": "misrepresented social roles",
    "order": "misrepresented sequence of a custom",
    "gift": "incorrect information about gifts",
    "object": "incorrect information about a custom",
    "place": "incorrect information about a custom",
    "degree": "overgeneralisation",
    "frequency": "stereotyping",
    "norm": "misrepresented norm",
    "negation": "misrepresentation",
}

_OWNED = (
    "'{new}' comes from {owner} and does not belong to {culture}",
    "'{new}' is wrong here, since it is at home in {owner}",
    "naming '{new}' confuses {culture} with {owner}",
)
_TIME = (
    "'{new}' is the wrong time for what is described",
    "what is described does not fall on '{new}'",
    "giving '{new}' as the time misstates the custom",
)
_PLAIN = (
    "'{new}' does not fit the custom described",
    "saying '{new}' gets the custom wrong",
    "the custom described is not correctly told with '{new}'",
)
_PEOPLE = (
    "'{new}' names the wrong person for this role",
    "it is not '{new}' who has this part in the custom",
    "giving this part to '{new}' misrepresents how the roles are shared",
)
# Each phrasing says what is wrong with {new}; {owner} is the culture {new} belongs to.
EXPLANATIONS: Mapping[str, tuple[str, ...]] = {
    "generic drink": ("'{new}' is not the drink that belongs here", "naming '{new}' as the drink is incorrect"),
    **dict.fromkeys(("dish", "drink", "festival", "garment", "dance", "instrument", "game", "landmark"), _OWNED),
    "greeting": ("'{new}' is a greeting of {owner}, not of {culture}", *_OWNED[1:]),
    "currency": ("'{new}' is the money of {owner}, not what is paid with here", *_OWNED[1:]),
    "city": ("'{new}' lies in {owner} and is not the place in question", *_OWNED[1:2]),
    "religion": (
        "'{new}' belongs to {owner} and is not part of the practice described",
        "naming '{new}' mistakes the practice described for one of {owner}",
    ),
    "number": ("the number '{new}' is wrong here", "'{new}' is not the number that custom or fact gives"),
    **dict.fromkeys(("weekday", "month", "season", "daytime", "meal"), _TIME),
    "colour": ("'{new}' is not the colour that has this meaning", "the colour '{new}' is wrong in this setting"),
    **dict.fromkeys(("family", "role"), _PEOPLE),
    "order": ("'{new}' puts the steps of the custom in the wrong order", "'{new}' is the wrong moment for this step"),
    "gift": ("'{new}' is not the gift that is meant by this custom", "naming '{new}' as the gift is incorrect"),
    **dict.fromkeys(("object", "place"), _PLAIN),
    "degree": ("'{new}' misstates how far this holds", "with '{new}', the extent of the practice is told wrongly"),
    "frequency": (
        "'{new}' misjudges how common this is and paints the whole group with one brush",
        "saying '{new}' is a sweeping claim that people of {culture} would not recognise",
        "'{new}' contradicts how people of {culture} usually act",
    ),
    "norm": (
        "'{new}' turns the social norm into its opposite",
        "saying '{new}' misrepresents what people of {culture} hold to be proper",
        "'{new}' is contrary to what is expected in {culture}",
    ),
    "verdict": (
        "the verdict '{new}' is not how people of {culture} would judge this behaviour",
        "answering '{new}' misrepresents what is acceptable in {culture}",
        "with '{new}', the behaviour is judged against the customs of {culture}",
    ),
    "negation": (
        "'{new}' states the contrary of what is the case",
        "with '{new}', the text claims something false about the culture",
    ),
}

# Neighbours are the cultures of one line; a culture in no line has none.
_NEIGHBOURS: tuple[frozenset[str], ...] = (
    frozenset({"Japan", "South Korea", "China", "Taiwan", "Mongolia"}),
    frozenset({"Vietnam", "Thailand", "Indonesia", "Malaysia", "Philippines", "Cambodia", "Myanmar"}),
    frozenset({"India", "Pakistan", "Bangladesh", "Nepal", "Sri Lanka"}),
    frozenset({"Iran", "Iraq", "Lebanon", "Egypt", "Saudi Arabia", "Morocco", "Israel", "Türkiye", "Qatar", "Jordan"})
    | {"Kuwait", "Syria", "United Arab Emirates"},
    frozenset({"Greece", "Italy", "Spain", "Portugal", "France"}),
    frozenset({"Germany", "Austria", "Switzerland", "Hungary", "Poland", "Slovakia", "Serbia", "Sweden", "Finland"}),
    frozenset({"Russia", "Ukraine", "Georgia", "Uzbekistan"}),
    frozenset({"United Kingdom", "Scotland", "Ireland", "United States", "Canada", "Australia", "New Zealand"}),
    frozenset({"Mexico", "Peru", "Argentina", "Brazil", "Colombia"}),
    frozenset({"Ethiopia", "Nigeria", "Ghana", "Kenya", "South Africa"}),
    frozenset({"Fiji", "Samoa"}),
)
REGIONS: Mapping[str, int] = {culture: number for number, line in enumerate(_NEIGHBOURS) for culture in line}

UNSPACED = frozenset({"Chinese", "Japanese"})

# Per language: what may stand before a word without being part of it, the same for words of up to three letters, and
# what may follow it (regular expressions).
SCRIPTS: Mapping[str, tuple[str, str, str]] = {
    "Arabic": ("[وف]?(?:[بك]?ال|لل|[بكل])?", "(?:[وف]?[بك]?ال|لل)?", ""),
    "Hebrew": ("[ושהבלכמ]{0,3}", "[הבלו]?", ""),
    "Korean": (
        "",
        "",
        "(?:은|는|이|가|을|를|의|에|에서|에는|로|으로|와|과|도|만|까지|부터|이나|나|라고|이라고|처럼|보다|들|에게)?",
    ),
    "Hungarian": (
        "",
        "",
        "(?:ban|ben|t|ot|et|ok|ek|i|kor|on|en|ön|nak|nek|val|vel|ra|re|ig|tól|től|ból|ből|hoz|hez|ja)?",
    ),
    "Turkish": ("", "", "(?:['’]?(?:d[ae]|t[ae]|[dt][ae]n|n?[ıiuü]n|y?[ıiuüae]|l[ae]r|l[ae]r[ıi])|d[ıiuü]r)?"),
    "Bengali": ("", "", "(?:র|ের|য়ের|ে|তে|কে|টি|টা|দের|রা)?"),
    "Nepali": ("", "", "(?:मा|को|का|की|ले|लाई|बाट|हरू)?"),
    "Assamese": ("", "", "(?:ৰ|ত|ক|টো|খন|বোৰ)?"),
}

# (language, word) -> what must hold before and after it, for words that often mean something else.
GUARDS: Mapping[tuple[str, str], tuple[str, str]] = {
    ("English", "may"): (r"(?<!\b(?:in|since|of|by|until|last|next) )", r"(?! (?:not|\d)|be\b)"),
    ("English", "two"): ("", r"(?! hands)"),
    ("English", "wait for"): ("", r"(?!(?: \S+){1,4} to )"),
    ("English", "most"): (r"(?<!\b(?:the|at|their|your|its|his|her|one of) )", ""),
    ("English", "many"): (r"(?<!\b(?:as|how|so|too|good) )", ""),
    ("English", "few"): (r"(?<!\b(?:a|the|every|past|last) )", ""),
    ("English", "more"): (r"(?<!\b(?:any|no|once|even) )", r"(?! or less)"),
    ("English", "less"): (r"(?<!\b(?:more or|much) )", ""),
    ("English", "first"): (r"(?<!\b(?:at|the very) )", r"(?! (?:name|time|of all))"),
    ("English", "last"): (r"(?<!\b(?:at|the) )", r"(?! (?:name|night|year|week))"),
    ("English", "offer"): (r"(?<!\b(?:the|an|any|your|this|initial|first|second|their|his|her|an?y|'s|s'|of) )", ""),
    ("English", "should"): ("", r"(?! (?:not|never|you|i|we|they)\b|n)"),
    ("English", "must"): (r"(?<!\ba )", r"(?! (?:not|never)\b|-)"),
    ("English", "can"): (r"(?<!\b(?:a|the|beer) )", r"(?! (?:not|of)\b|['’])"),
    ("English", "have to"): (r"(?<!not |n't |n’t )", ""),
    ("English", "common"): (r"(?<!\b(?:in|have|more|less|most) )", r"(?! (?:sense|law))"),
    ("English", "expected"): (r"(?<!\b(?:than|as|not|was|were) )", ""),
    ("English", "important"): (r"(?<!\b(?:most|more|less|not) )", ""),
    ("English", "high"): ("", r"(?! (?:school|street|court))"),
    ("English", "low"): ("", r"(?! key)"),
    ("English", "new"): ("", r"(?! (?:year|york|zealand))"),
    ("English", "after"): ("", r"(?! all\b)"),
    ("English", "before"): (r"(?<!never )", ""),
    ("English", "without"): (r"(?<!(?:with or|do|goes) )", ""),
    ("English", "good"): ("", r"(?! (?:at|luck|morning|evening|night|manners))"),
    ("English", "starting"): (r"(?<!the )", r"(?! from)"),
    ("English", "leaving"): (r"(?<!\w, )", r"(?! (?:a|any|some|no|the (?:rest|last|food)|it|them) ?)"),
    ("English", "spring"): ("", r"(?! (?:up|water|roll))"),
    ("English", "cricket"): ("", r"(?!s)"),
    ("English", "half"): ("", r"(?! a)"),
    ("German", "alle"): (r"(?<!\b[Nn]icht |\bvor )", ""),
    ("German", "mehr"): (r"(?<!\b(?:nicht|kein|keine|keinen|nie|nur) )", ""),
    ("German", "weniger"): (r"(?<!oder )", ""),
    ("German", "immer"): ("", r"(?! (?:noch|wieder|mehr))"),
    ("German", "gut"): (r"(?<!\b(?:so|nicht) )", ""),
    ("Spanish", "más"): (r"(?<!\b(?:nada|una vez|no|sin|es) )", r"(?! que|o)"),
    ("Spanish", "mayor"): ("", r"(?! de edad)"),
    ("Spanish", "puede"): (r"(?<!\bno )", r"(?! que\b)"),
    ("Spanish", "pueden"): (r"(?<!\bno )", ""),
    ("Spanish", "antes"): ("", r"(?! posible)"),
    ("Russian", "до"): ("", r"(?! (?:сих|того))"),
    ("Russian", "больше"): (r"(?<!не )", r"(?! не\b)"),
    ("Russian", "может"): (r"(?<!не )", r"(?!,? быть)"),
    ("Russian", "все"): ("", r"(?! (?:равно|же|ещё|еще))"),
    ("Russian", "можно"): (r"(?<!не )", ""),
    ("Russian", "после"): ("", r"(?! того)"),
    ("Hindi", "पहले"): (r"(?<!सबसे )", ""),
    ("Hindi", "दो"): (r"(?<!दे )", ""),
    ("Hindi", "बहुत"): ("", r"(?! (?:से|सी|सारे|ही))"),
    ("Hindi", "कई"): ("", r"(?! बार)"),
    ("Arabic", "عشاء"): (r"(?<!صلاة )", ""),
    ("Arabic", "ربيع"): ("", r"(?! ال)"),
    ("Arabic", "كل"): ("", r"(?! (?:من|ما))"),
    ("Arabic", "بعد"): ("", r"(?! أن)"),
    ("Arabic", "قبل"): (r"(?<!من )", r"(?! أن)"),
    ("Arabic", "بعض"): ("", r"(?!ه)"),
    ("Chinese", "不是"): (r"(?<![是还要])", ""),
    ("Chinese", "可能"): (r"(?<!不)", r"(?!性)"),
    ("Chinese", "可以"): (r"(?<![不还])", ""),
    ("Chinese", "应该"): (r"(?<!不)", ""),
    ("Chinese", "第一"): ("", r"(?![点个]?[，,])"),
    ("Chinese", "一般"): ("", r"(?!的)"),
    ("Chinese", "没有"): (r"(?<!有)", ""),
    ("Japanese", "です"): (r"(?<=[\p{Han}\p{Katakana}])", r"(?=[。\n]|$)"),
    ("Japanese", "ドル"): (r"(?<![\p{Katakana}ー])", r"(?![\p{Katakana}ー])"),
    ("Japanese", "ナン"): (r"(?<![\p{Katakana}ー])", r"(?![\p{Katakana}ー])"),
    ("Japanese", "ウォン"): (r"(?<![\p{Katakana}ー])", r"(?![\p{Katakana}ー])"),
    ("Japanese", "ビール"): (r"(?<![\p{Katakana}ー])", r"(?![\p{Katakana}ー])"),
    ("Japanese", "よく"): (r"(?<![\p{Han}])", r"(?!な|い)"),
    ("Japanese", "います"): (r"(?<=[てで])", r"(?=[。\n]|$)"),
    ("Japanese", "なります"): ("", r"(?!と|か)"),
    ("Japanese", "同じ"): ("", r"(?=\p{Han})"),
    ("Japanese", "違う"): ("", r"(?=\p{Han})"),
    ("Japanese", "東京"): ("", r"(?!大学|タワー)"),
    ("Korean", "있습니다"): (r"(?<!고 ?|져 ?|되어 ?)", ""),
    ("Korean", "합니다"): (r"(?<!감사|사랑|부탁)", ""),
    ("Korean", "네"): ("", r"(?![,.!])"),
    ("Hungarian", "van"): (r"(?<!\bnem )", ""),
    ("Hungarian", "lehet"): (r"(?<!\bnem )", r"(?!,? hogy)"),
    ("Turkish", "az"): (r"(?<!en )", ""),
    ("Turkish", "çok"): (r"(?<!en )", ""),
}


def closed(syllable: str) -> bool:
    """Whether a Hangul syllable ends in a consonant, which decides the form of the particle after it."""
    return len(unicodedata.normalize("NFD", syllable)) == 3


def harmony(word: str) -> tuple[bool, bool]:
    """Front or back last vowel, and whether it ends the word: what decides the form of an ending."""
    vowels = regex.findall(r"[aáeéiíıoóöőuúüű]", word.lower())
    return bool(vowels) and vowels[-1] in "eéiíöőüű", bool(vowels) and word.lower().endswith(vowels[-1])
