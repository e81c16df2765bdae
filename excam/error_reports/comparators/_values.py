"""Typed values of a text: numbers with units, dates, clock times, option letters, months, yes and no."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace

import regex

from excam.error_reports.comparators._dates_and_times import clock, dated, dates, times
from excam.error_reports.comparators._lexicon import NEGATION, Entry, Languages, phrases, variants
from excam.error_reports.comparators._value import NUMBER, Covered, Value
from excam.error_reports.comparators._words import Atom, atoms

HAN_DIGITS = {sign: at for at, sign in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "兩": 2}
HAN_POWERS = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "萬": 10_000, "亿": 10**8, "億": 10**8}
HAN = regex.compile("[〇零一二三四五六七八九两兩十百千万萬亿億]+")
SINO_KOREAN = regex.compile(
    "(?:[일이삼사오육칠팔구]?[천백십])+[일이삼사오육칠팔구]?|[일이삼사오육칠팔구십]+(?=[월분세층년]$)"
)
KOREAN_DIGITS = {sign: at for at, sign in enumerate("일이삼사오육칠팔구", 1)}
KOREAN_POWERS = {"십": 10, "백": 100, "천": 1000}
COUNTERS = frozenset("个個月日号年点點时時岁歲天次人元つ回本度分秒円才名枚杯条件家位层层楼周里米斤")
COUNTED = {"月": "month", "월": "month", "日": "day", "号": "day", "일": "day"}  # counters, and what they count
CLOCK = frozenset(("uhr", "oclock", "点", "點", "时", "時", "시", "बजे", "h", "uur"))
BEFORE_CLOCK = frozenset(("saat", "jam", "pukul", "الساعه"))
ORDER = ("st", "nd", "rd", "th", "e", "er", "eme", "inci", "nci")  # behind the digits of an ordinal
SIGNS = "-−–﹣－"  # of a number below zero; between two numbers they mean "to"
OPENING = "([{«“„\"'~≈:：（「"
DOTTED = regex.compile(r"\d{1,2}\.(\d{2})")  # a time before a word for the clock
LETTER = regex.compile(
    r"(?<!(?i:vitamin|hepatitis|grade|type|plan|group|class)\s)(?<![\p{L}\p{Nd}'’.&+°-])"
    r"\(?([A-H])(?:\)|(?=\s*[:,;]|[.]?\s*$|[.]\s|\s+(?:is|which|that|as|and|or)\b|\s+[-–—(]\s*\p{L}))(?![.]\p{L})"
)
AFTER_LETTER = regex.compile(
    r"(?i)\b(?:option|choice|letter|opción|opção|opzione|optie|seçenek|şık|pilihan)\s+\(?(?-i:([A-H]))(?![\p{L}\p{Nd}'’])"
    r"|(?:选项|選項|選択肢|विकल्प|الخيار|선택지)\s*\(?(?-i:([A-H]))(?![\p{L}\p{Nd}])"
)
ENDS = regex.compile(r"\s*(?:$|[.,;:!?。，、！？।)\"”'’—–]|-\s)")
NUMBERED = regex.compile(r"\.\s?\p{Nd}")  # "No. 1"
CONTRACTED = regex.compile(r"['’‘ʼ`´]")
BOUND_NEGATION = {
    "Korean": regex.compile(r"않|없|못"),
    "Turkish": regex.compile(r"\p{Latin}{2,}(?:maz|mez|miyor|muyor|memeli|mamali|mamis|memis)\p{Latin}*$"),
}
LONGEST_WORD = 40  # letters at the end of a word in which a negating ending is looked for
CAPITALISED = frozenset(("may", "march", "mar", "mon", "sun", "sat", "jan", "dec"))


NUMERIC = ("cardinal", "ordinal", "multiplier", "unit")
Sums = set[tuple[float, float]]  # readings of a numeral: what is complete, and the words since


def read_values(text: str, languages: Languages) -> tuple[Value, ...]:
    """Return the values of a text without markup in order, negations among them; none overlaps another."""
    fixed = list(_without_overlap([*dates(text), *times(text), *_letters(text)]))
    taken = Covered((value.start, value.end) for value in fixed)
    free = tuple(atom for atom in atoms(text) if not taken.touches(atom.start, atom.end))
    scanned = _Scanner(text, free, languages).values()
    return tuple(sorted([*fixed, *scanned], key=lambda value: value.start))


def _without_overlap(values: Sequence[Value]) -> Iterator[Value]:
    end = 0
    for value in sorted(values, key=lambda value: (value.start, -value.end)):
        if value.start >= end:
            yield value
            end = value.end


def _letters(text: str) -> Iterator[Value]:
    for pattern in (LETTER, AFTER_LETTER):
        for match in pattern.finditer(text):
            group = 1 if match[1] else 2
            yield Value("option", frozenset((match[group],)), *match.span(group), match[group])


class _Scanner:
    """Reads numbers, listed phrases and negations from atoms, left to right, the longest phrase first."""

    def __init__(self, text: str, free: tuple[Atom, ...], languages: Languages) -> None:
        self.text, self.atoms, self.languages, self.phrases = text, free, languages, phrases(languages)

    def values(self) -> list[Value]:
        """Return the values in order."""
        values: list[Value] = []
        at = 0
        while at < len(self.atoms):
            named, number = self._named(at), self._number(at)
            longer = number if number and (not named or number[1] > named[1]) else named
            longer = longer or self._negation(at)
            if longer:
                values.append(longer[0])
            at = longer[1] if longer else at + 1
        return list(dated(values, self.text))

    def _entry(self, at: int, kinds: Sequence[str] = (), barred: Sequence[str] = ()) -> Entry | None:
        """Return the longest phrase that begins at an atom, of these kinds if any are given."""
        for first in variants(self.atoms[at].key):
            for entry in self.phrases.get(first, ()):
                if (not kinds or entry.kind in kinds) and entry.kind not in barred and self._stands(at, entry):
                    return entry
        return None

    def _stands(self, at: int, entry: Entry) -> bool:
        """Return whether a phrase stands here; in a script without spaces, one character only as a word of its own.

        A negation of one character stands in longer words too.
        """
        part = self.atoms[at : at + len(entry.key)]
        if len(part) < len(entry.key) or (len(part) == 1 and not part[0].alone and entry.kind != NEGATION):
            return False
        return all(key in variants(atom.key) for atom, key in zip(part, entry.key, strict=True))

    def _named(self, at: int) -> tuple[Value, int] | None:
        entry = self._entry(at, barred=(*NUMERIC, NEGATION))
        if entry is None:
            return None
        after = at + len(entry.key)
        start, end = self.atoms[at].start, self.atoms[after - 1].end
        if entry.key[0] in CAPITALISED and not self.text[start].isupper():
            return None
        if entry.kind == "yes-no" and (not ENDS.match(self.text, end) or NUMBERED.match(self.text, end)):
            return None
        return Value(entry.kind, frozenset((entry.value,)), start, end, self.text[start:end]), after

    def _negation(self, at: int) -> tuple[Value, int] | None:
        """Return a listed negation, English "n't", or a word that negates by its ending."""
        entry, key = self._entry(at, (NEGATION,)), self.atoms[at].key
        after = at + len(entry.key) if entry else at + 1
        if (
            "English" in self.languages
            and at + 1 < len(self.atoms)
            and key[-1] == "n"
            and self.atoms[at + 1].key == "t"
            and CONTRACTED.fullmatch(self.text, self.atoms[at].end, self.atoms[at + 1].start)
        ):
            entry, after = entry or Entry(NEGATION, "", ()), at + 2
        bound = [BOUND_NEGATION[name] for name in self.languages if name in BOUND_NEGATION]
        if entry is None and not any(pattern.search(key[-LONGEST_WORD:]) for pattern in bound):
            return None
        start, end = self.atoms[at].start, self.atoms[after - 1].end
        return Value(NEGATION, frozenset(("no",)), start, end, self.text[start:end]), after

    def _number(self, at: int) -> tuple[Value, int] | None:
        """Return a number with its unit, and the atom after both."""
        money = self._entry(at, ("unit",)) if regex.match(r"\p{Sc}", self.atoms[at].key) else None
        of_hundred = [atom.key for atom in self.atoms[at : at + 3]] == ["百", "分", "之"]
        begun = at + 1 if money else at + 3 if of_hundred else at
        number = self._plain(begun) if begun < len(self.atoms) else None
        if number is None:
            return None
        readings, after, suffix = number
        start, end = self.atoms[at].start, self.atoms[after - 1].end
        value = Value(NUMBER, frozenset(readings), start, end, self.text[start:end], frozenset(readings))
        if self._is_below_zero(at):
            minus = frozenset(-number for number in readings)
            value = replace(value, values=minus, plain=minus, start=start - 1, shown=self.text[start - 1 : end])
        if of_hundred:
            return replace(value, kind="percent"), after
        if suffix:  # Korean: the counter is a part of the word
            return self._counted(value, suffix), after
        if money:
            return self._with_unit(value, money, end), after
        if self._near(after):
            return self._measured(value, at, after)
        return self._at_clock(value, end) if self._clock_before(at) else self._year(value), after

    def _is_below_zero(self, at: int) -> bool:
        """Return whether a minus sign stands directly before a number; between two numbers it means "to"."""
        start = self.atoms[at].start
        if not start or self.text[start - 1] not in SIGNS:
            return False
        begun = start - 1
        if begun and not (self.text[begun - 1].isspace() or self.text[begun - 1] in OPENING):
            return False
        follows = at > 0 and not self.text[self.atoms[at - 1].end : begun].strip()
        return not (follows and (self._entry(at - 1, ("unit",)) or self._plain(at - 1)))

    def _near(self, after: int) -> bool:
        """Return whether an atom is there, divided from the one before it by spaces, a full stop or a hyphen alone."""
        if after >= len(self.atoms):
            return False
        gap = self.text[self.atoms[after - 1].end : self.atoms[after].start]
        return not gap.strip(" \u00a0\u202f.-'’")

    def _measured(self, value: Value, at: int, after: int) -> tuple[Value, int]:
        """Return the number with the unit, month or clock word that follows it."""
        unit = self._entry(after, ("unit",))
        key = next((key for key in variants(self.atoms[after].key)[::-1] if key in CLOCK | COUNTED.keys()), "")
        if unit and not (key and len(unit.key) == 1):
            after += len(unit.key)
            return self._with_unit(value, unit, self.atoms[after - 1].end), after
        if key in CLOCK or self._clock_before(at):
            after += key in CLOCK
            return self._at_clock(value, self.atoms[after - 1].end), after
        if key:
            return replace(self._counted(value, key), end=self.atoms[after].end), after + 1
        if self.atoms[after].key in ("年", "년"):
            kind = "year" if min(value.plain) >= 1000 else "month-count"
            readings = frozenset(number * (1 if kind == "year" else 12) for number in value.plain)
            return replace(value, kind=kind, values=readings, end=self.atoms[after].end), after + 1
        return self._year(value), after

    def _clock_before(self, at: int) -> bool:
        return at > 0 and any(key in BEFORE_CLOCK for key in variants(self.atoms[at - 1].key))

    def _at_clock(self, value: Value, end: int) -> Value:
        dotted = DOTTED.fullmatch(self.text, value.start, value.end)
        minute = int(dotted[1]) if dotted else 0
        hours = [int(hour) for hour in value.plain if 0 <= hour <= 24 and minute < 60 and (dotted or hour == int(hour))]
        readings = frozenset(time for hour in hours for time in clock(hour, minute))
        if not readings:
            return value
        return replace(value, kind="clock", values=readings, end=end, shown=self.text[value.start : end])

    def _counted(self, value: Value, key: str) -> Value:
        """Return the number as a month or as a day of one."""
        return replace(value, kind=COUNTED[key], values=frozenset(str(int(number)) for number in value.plain))

    def _with_unit(self, value: Value, unit: Entry, end: int) -> Value:
        dimension, factor = unit.value.split(" ")
        readings = frozenset(round(number * float(factor), 6) for number in value.plain)
        start = min(value.start, end)
        return replace(value, kind=dimension, values=readings, end=end, shown=self.text[start:end])

    def _year(self, value: Value) -> Value:
        number = max(value.plain, default=0)
        digits = self.text[value.start : value.end].isdecimal()
        return replace(value, kind="year") if digits and 1000 <= number <= 2100 else value

    def _plain(self, at: int) -> tuple[set[float], int, str] | None:
        """Return readings of a number, the atom after it, and a counter inside its last word."""
        key = self.atoms[at].key
        if key[0].isdecimal():
            readings, after = _digits(key), at + 1
            part = self._fraction(at)
            if part:
                return {part}, after, ""
            if self._continues(after) and (part := self._fraction(after)):
                readings, after = {number + part for number in readings}, after + 1
            if (
                after < len(self.atoms)
                and self.atoms[after].key in ORDER
                and self.atoms[after - 1].end == self.atoms[after].start
            ):
                return readings, after + 1, ""
            return *self._multiplied(readings, after), ""
        if HAN.fullmatch(key):
            return self._han(at)
        if (match := SINO_KOREAN.match(key)) and (korean := _by_powers(match.group(), KOREAN_DIGITS, KOREAN_POWERS)):
            rest = key[match.end() :]
            counter = rest[:1] if rest[:1] in ("월", "일") else ""
            return {korean}, at + 1, counter
        entry = self._entry(at, ("cardinal", "ordinal"))
        if entry is None:
            return None
        readings = {float(entry.value)}
        if entry.kind == "ordinal":
            return readings, at + len(entry.key), ""
        value = float(entry.value)
        factor = 1000.0 if value == 1000 else 100.0 if value >= 100 else 1.0
        readings, after = self._multiplied(readings, at + len(entry.key), factor)
        return readings, after, ""

    def _fraction(self, at: int) -> float:
        """Return the value of a sign such as ½; 0 for every other atom."""
        sign = self.text[self.atoms[at].start : self.atoms[at].end]
        value = unicodedata.numeric(sign, 0.0) if len(sign) == 1 else 0.0
        return value if value < 1 else 0.0

    def _multiplied(self, readings: set[float], after: int, factor: float = 1.0) -> tuple[set[float], int]:
        """Return readings with the rest of their numeral ("2 million", "five thousand two hundred and one").

        A multiplier greater than those before it is of all words before it ("three hundred thousand"), another one of
        those since the last. `factor` is the multiplier that the first word holds ("a hundred").
        """
        sums = {(number, 0.0) if factor >= 1000 else (0.0, number) for number in readings}  # complete; words since
        greatest = factor if factor >= 1000 else 0.0
        sums, after = self._added(sums, after, factor)
        while after < len(self.atoms) and (entry := self._entry(after, ("multiplier",))) and self._near(after):
            factor = float(entry.value)
            if factor < 1000:
                sums = {(total, number * factor) for total, number in sums}
            elif factor > greatest:
                sums, greatest = {((total + number) * factor, 0.0) for total, number in sums}, factor
            else:
                sums, greatest = {(total + number * factor, 0.0) for total, number in sums}, factor
            sums, after = self._added(sums, after + len(entry.key), factor)
        return {total + number for total, number in sums}, after

    def _added(self, sums: Sums, after: int, factor: float) -> tuple[Sums, int]:
        """Add the cardinals that follow a multiplier, each smaller than what it follows ("and five")."""
        while factor >= 100 and self._continues(after):
            rest = after + (self.atoms[after].key in ("and", "und", "y", "e"))
            small = self._entry(rest, ("cardinal",)) if rest < len(self.atoms) else None
            value = float(small.value) if small else factor
            if small is None or value >= factor or value != int(value):
                break
            sums, after = {(total, number + value) for total, number in sums}, rest + len(small.key)
            factor = 100.0 if value >= 100 else 0.0
        return sums, after

    def _continues(self, after: int) -> bool:
        """Return whether an atom is there, in the numeral of the one before it: spaces or a hyphen are between."""
        if after >= len(self.atoms):
            return False
        return not self.text[self.atoms[after - 1].end : self.atoms[after].start].strip(" \u00a0\u202f-")

    def _han(self, at: int) -> tuple[set[float], int, str] | None:
        """Return a Han numeral: of two signs, before a counter, or all of the text."""
        after = at
        while after < len(self.atoms) and HAN.fullmatch(self.atoms[after].key):
            after += 1
        following = self.atoms[after].key if self._near(after) else ""
        counted = following in COUNTERS and not (after - at == 1 and self.atoms[at].key + following == "十分")
        if after - at < 2 and not counted and len(self.atoms) > 1:
            return None
        number = _han_number("".join(atom.key for atom in self.atoms[at:after]))
        return {number}, after, ""


def _digits(key: str) -> set[float]:
    """Return what digits with separators may mean: "1.000" is a thousand, or one."""
    key = regex.sub(r"\s", "", key).replace("٫", ".").replace("٬", ",").rstrip(".,:")
    if regex.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", key):
        return {float(key.replace(",", ""))}
    if regex.fullmatch(r"\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?|\d{1,3}(?:\.\d{3})+,\d+", key):
        return {float(key.replace(".", "").replace(",", "."))}
    if regex.fullmatch(r"\d{1,3}\.\d{3}", key):
        return {float(key.replace(".", "")), float(key)}
    if regex.fullmatch(r"\d+[.,]\d+", key):
        return {float(key.replace(",", "."))}
    return {float(regex.sub(r"\D", "", key)[:300])}


def _han_number(signs: str) -> float:
    """Return the value of a Han numeral, positional ("二〇二〇") or with powers ("二十一")."""
    if not any(sign in HAN_POWERS for sign in signs):
        return float("".join(str(HAN_DIGITS[sign]) for sign in signs)[:300])
    return _by_powers(signs, HAN_DIGITS, HAN_POWERS)


def _by_powers(signs: str, digits: dict[str, int], powers: dict[str, int]) -> float:
    total, section, digit = 0, 0, 0
    for sign in signs:
        if sign in digits:
            digit = digits[sign]
        elif powers[sign] >= 10_000:
            total, section, digit = total + max(section + digit, 1) * powers[sign], 0, 0
        else:
            section, digit = section + (digit or 1) * powers[sign], 0
    return float(total + section + digit)
