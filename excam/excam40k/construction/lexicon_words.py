"""Data of `lexicon` about kinds of words, languages and regions: types, phrasings, cues, endings, homes."""

from __future__ import annotations

from collections.abc import Mapping

# The error type of a family of words.
TYPES: Mapping[str, str] = {
    **dict.fromkeys(("dish", "food", "vessel"), "incorrect information about food"),
    "drink": "incorrect information about food and drink",
    **dict.fromkeys(("feast", "market"), "incorrect information about festivals"),
    **dict.fromkeys(("garment", "dress"), "incorrect information about clothing"),
    **dict.fromkeys(
        ("dance", "opera", "song", "instrument", "craft", "ware", "object"), "incorrect information about traditions"
    ),
    "game": "incorrect information about sports and games",
    **dict.fromkeys(("sacred place", "scripture", "cleric"), "misrepresentation of religious practice"),
    **dict.fromkeys(("believers", "belief", "faith", "deity"), "misrepresentation of religious practice"),
    "greeting": "misrepresented form of greeting",
    "norm": "misrepresented norm",
    "meaning": "misrepresented symbolism",
    "colour": "misrepresented symbolism",
    "gesture": "incorrect information about a custom",
    "number": "incorrect information about a custom",
    **dict.fromkeys(("time", "date", "calendar"), "incorrect information about the time of a custom"),
    "year": "incorrect date",
    **dict.fromkeys(("person", "people"), "misrepresented social roles"),
    "gift": "incorrect information about gifts",
    "general": "overgeneralisation",
}

_OWNED = (
    "'{new}' belongs to {owner} and is wrong here",
    "what is described does not belong to {owner}, so '{new}' is wrong",
)
_FAITH = ("'{new}' belongs to {owner} and is not part of the practice described", _OWNED[0])
_TIME = ("'{new}' is the wrong time for this custom", "giving '{new}' as the time misstates the custom")
_PLAIN = ("'{new}' does not fit the custom described", "saying '{new}' gets the custom wrong")
# Each phrasing says what is wrong with {new}; {owner} is the culture or religion that {new} belongs to.
EXPLANATIONS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("dish", "drink", "vessel", "feast", "market", "garment", "dance", "opera"), _OWNED),
    **dict.fromkeys(("song", "instrument", "craft", "ware", "game", "people"), _OWNED),
    "greeting": ("'{new}' is a greeting of {owner} and wrong here", _OWNED[0]),
    **dict.fromkeys(("sacred place", "scripture", "cleric", "believers", "faith"), _FAITH),
    "belief": (
        "'{new}' names the wrong religion",
        "with '{new}', this is said of another religion",
    ),
    "deity": ("'{new}' is not the deity of this practice or belief", "naming '{new}' mistakes the deity in question"),
    "norm": (
        "'{new}' turns the norm into its opposite",
        "with '{new}', the text states the contrary of what is held to be proper",
    ),
    "meaning": ("'{new}' misrepresents what the custom means", "'{new}' is the contrary of what the custom expresses"),
    "colour": ("'{new}' is not the colour that has this meaning", "the colour '{new}' is wrong in this custom"),
    "number": (
        "'{new}' is not the number that the custom asks for",
        "the number is wrong: '{new}' is contrary to custom",
    ),
    **dict.fromkeys(("time", "date", "calendar"), _TIME),
    **dict.fromkeys(("gesture", "object", "food", "dress"), _PLAIN),
    "year": ("'{new}' is not the year in question", "the year '{new}' is wrong"),
    "person": ("'{new}' names the wrong person in this custom", "with '{new}', the custom is about the wrong people"),
    "gift": ("'{new}' is not what a gift is expected to be here", "with '{new}', the custom of giving is misstated"),
    "general": (
        "'{new}' is a sweeping claim: customs differ from person to person",
        "'{new}' assumes that the whole group behaves alike",
    ),
}

# What is wrong with the norm of another culture; {right} is the sentence that holds, without its full stop.
OTHER_NORM = (
    "This is not how people of {culture} see it. What holds there: {right}. So the answer is '{verdict}'.",
    "As to {custom}, another norm holds in {culture}: {right}. By that norm the answer is '{verdict}'.",
    "The output gives another norm than that of {culture}: {right}. Hence the answer should be '{verdict}'.",
)

RULE_DECIDES = (
    "Etiquette in {culture} has this rule: {right}. By it the answer is '{verdict}'.",
    "The verdict is against a rule of etiquette in {culture}: {right}. It should be '{verdict}'.",
    "What is done in the story is judged by this rule of {culture}: {right}. So the answer is '{verdict}'.",
)

# Families of items that are more than a place or people only in a sentence about a custom.
CUED = frozenset({"sacred place", "believers", "cleric"})
# Families of fixed words that are a matter of culture in any sentence; the others need a cue beside them.
PLAINLY_CULTURAL = frozenset({"calendar", "deity", "belief"})
NOT_AFTER: Mapping[str, str] = {"paella": "en la "}  # there it is the pan

UNSPACED = frozenset({"Chinese", "Japanese"})
# What may stand before and after a listed word without being part of it (regular expressions).
AFFIXES: Mapping[str, tuple[str, str]] = {
    "Arabic": ("[وف]?[بك]?", ""),
    "Hebrew": ("ו?[בלמכש]?", ""),
    "Korean": ("", "(?:은|는|이|가|을|를|의|에|에서|에는|로|으로|와|과|도|만|까지|부터|이나|나|이라고|라고)?"),
    "Turkish": ("", "(?:['’](?:n[dt]a|n?[ıi]n|n[ıi]|na))?"),
    "Nepali": ("", "(?:मा|को|का|की|ले|लाई|बाट)?"),
}

# Cultures and religions at home in a language: words of these are replaced, and never put in, if no culture is named.
HOMES: Mapping[str, frozenset[str]] = {
    "English": frozenset({"United States", "United Kingdom", "Christianity", "Nigeria", "New Zealand"}),
    "German": frozenset({"Germany", "Austria", "Christianity"}),
    "Spanish": frozenset({"Spain", "Mexico", "Peru", "Christianity"}),
    "Russian": frozenset({"Russia", "Christianity"}),
    "Hebrew": frozenset({"Israel", "Judaism"}),
    "Hindi": frozenset({"India", "Hinduism", "Sikhism"}),
    "Arabic": frozenset({"Egypt", "Morocco", "Iraq", "Qatar", "Islam"}),
    "Korean": frozenset({"South Korea", "Christianity"}),
    "Chinese": frozenset({"China"}),
    "Japanese": frozenset({"Japan", "Buddhism"}),
    "Hungarian": frozenset({"Hungary", "Christianity"}),
    "Turkish": frozenset({"Türkiye", "Islam"}),
    "Bengali": frozenset({"Bangladesh"}),
    "Assamese": frozenset({"India"}),
    "Nepali": frozenset({"Nepal"}),
}
# The faith of most people of a culture: what belongs to it is not foreign there.
FAITHS: Mapping[str, str] = {
    **dict.fromkeys(("Afghanistan", "Algeria", "Azerbaijan", "Bangladesh", "Egypt", "Indonesia", "Iran"), "Islam"),
    **dict.fromkeys(("Iraq", "Jordan", "Lebanon", "Malaysia", "Morocco", "Pakistan", "Qatar", "Saudi Arabia"), "Islam"),
    **dict.fromkeys(("Senegal", "Somalia", "Sudan", "Syria", "Tunisia", "Türkiye", "Turkey", "Yemen"), "Islam"),
    **dict.fromkeys(("Cambodia", "Myanmar", "Sri Lanka", "Thailand"), "Buddhism"),
    **dict.fromkeys(("India", "Nepal"), "Hinduism"),
    "Israel": "Judaism",
}
# Stems by which a text names a culture: its own words are never put into such a text.
STEMS: Mapping[str, str] = {
    "Argentina": "Argentin", "Australia": "Australia", "Austria": "Austria", "Bangladesh": "Bangla",
    "Brazil": "Brazil", "China": "Chin", "Ethiopia": "Ethiopia", "Fiji": "Fiji", "France": "French",
    "Germany": "German", "Ghana": "Ghana", "Greece": "Greek", "Hungary": "Hungar", "India": "India", "Iran": "Iran",
    "Italy": "Ital", "Japan": "Japan", "Mexico": "Mexic", "Morocco": "Morocc", "Nepal": "Nepal",
    "New Zealand": "Māori", "Peru": "Peru", "Philippines": "Filipin", "Poland": "Polish", "Russia": "Russia",
    "Samoa": "Samoa", "Scotland": "Scot", "South Korea": "Korea", "Spain": "Span", "Sweden": "Swed",
    "Thailand": "Thai", "Türkiye": "Tur", "Vietnam": "Vietnam", "Islam": "Muslim", "Judaism": "Jew",
    "Christianity": "Christian", "Hinduism": "Hindu", "Buddhism": "Buddh",
}  # fmt: skip

# Neighbours are the cultures of one line. A culture in no line has none; nor has a religion, as to take one for another
# is never a detail.
_NEIGHBOURS: tuple[frozenset[str], ...] = (
    frozenset({"Japan", "South Korea", "China", "Mongolia"}),
    frozenset({"Vietnam", "Thailand", "Indonesia", "Malaysia", "Philippines", "Myanmar"}),
    frozenset({"India", "Pakistan", "Bangladesh", "Nepal", "Sri Lanka"}),
    frozenset({"Iran", "Iraq", "Lebanon", "Egypt", "Saudi Arabia", "Morocco", "Israel", "Türkiye", "Qatar"}),
    frozenset({"Greece", "Italy", "Spain", "Portugal", "France"}),
    frozenset({"Germany", "Austria", "Switzerland", "Hungary", "Poland", "Sweden"}),
    frozenset({"Russia", "Ukraine", "Georgia"}),
    frozenset({"United Kingdom", "Scotland", "United States", "Canada", "Australia", "New Zealand"}),
    frozenset({"Mexico", "Peru", "Argentina", "Brazil", "Colombia", "Cuba"}),
    frozenset({"Ethiopia", "Nigeria", "Ghana", "Kenya", "South Africa", "Senegal"}),
    frozenset({"Fiji", "Samoa", "Hawaii"}),
)
REGIONS: Mapping[str, int] = {culture: number for number, line in enumerate(_NEIGHBOURS) for culture in line}


def final_sound(syllable: str) -> str:
    """Return how a Hangul syllable ends, which decides the form of a particle: "vowel", "ㄹ" or "consonant"."""
    last = (ord(syllable) - 0xAC00) % 28
    return "vowel" if last == 0 else "ㄹ" if last == 8 else "consonant"
