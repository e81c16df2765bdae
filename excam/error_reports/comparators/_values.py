"""Typed values of a text: numbers with units, dates, clock times, option letters, yes and no, and listed concepts."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import regex

from excam.error_reports.comparators._lexicon import Entry, Languages, phrases, variants
from excam.error_reports.comparators._words import Atom, Word, atoms, fold

HAN_DIGITS = {sign: at for at, sign in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "兩": 2}
HAN_POWERS = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "萬": 10_000, "亿": 10**8, "億": 10**8}
HAN = regex.compile("[〇零一二三四五六七八九两兩十百千万萬亿億]+")
SINO_KOREAN = regex.compile(
    "(?:[일이삼사오육칠팔구]?[천백십])+[일이삼사오육칠팔구]?|[일이삼사오육칠팔구십]+(?=[월분세층년]$)"
)
KOREAN_DIGITS = {sign: at for at, sign in enumerate("일이삼사오육칠팔구", 1)}
KOREAN_POWERS = {"십": 10, "백": 100, "천": 1000}
COUNTERS = frozenset("个個月日号年点點时時岁歲天次人元つ回本度分秒円才名枚杯条件家位层层楼周里米斤")
CLOCK = frozenset(("uhr", "oclock", "点", "點", "时", "時", "시", "बजे", "h", "uur"))
BEFORE_CLOCK = frozenset(("saat", "jam", "pukul", "الساعه"))
MORNING = frozenset(("am", "a.m", "morning"))
EVENING = frozenset(("pm", "p.m", "afternoon", "evening", "night"))
TIME = regex.compile(
    r"(?<![\p{Nd}.:])(\p{Nd}{1,2})[:.](\p{Nd}{2})(?:[:.]\p{Nd}{2})?(?![\p{Nd}:%]|[.]\p{Nd})(?:\s*([ap])\.?m\b)?(\s*uhr)?",
    regex.I,
)
HOUR_AND_MINUTE = regex.compile(
    r"(?<![\p{Nd}.:])(\p{Nd}{1,2})\s*(?:h|[点點时時시])\s*(\p{Nd}{2})\s?(?:[分분]|min\b)?(?!\p{Nd})", regex.I
)
HOUR = regex.compile(r"(?<![\p{Nd}.:])(\p{Nd}{1,2})\s*(?:([ap])\.?\s?m\b\.?|(o['’]?\s?clock)\b)", regex.I)
ISO = regex.compile(r"(?<!\p{Nd})(\p{Nd}{4})[-/.](\p{Nd}{1,2})[-/.](\p{Nd}{1,2})(?!\p{Nd})")
DAY_FIRST = regex.compile(
    r"(?<![\p{Nd}.])(\p{Nd}{1,2})([-/.])(\p{Nd}{1,2})\2(\p{Nd}{4}|\p{Nd}{2})(?!\p{Nd})|(?<![\p{Nd}.])(\p{Nd}{1,2})/(\p{Nd}{1,2})(?![\p{Nd}/])"
)
LETTER = regex.compile(
    r"(?<!(?i:vitamin|hepatitis|grade|type|plan|group|class)\s)(?<![\p{L}\p{Nd}'’.&+°-])"
    r"\(?([A-H])(?:\)|(?=\s*[:,;]|[.]?\s*$|[.]\s|\s+(?:is|which|that|as|and|or)\b|\s+\())(?![.]\p{L})"
)
AFTER_LETTER = regex.compile(
    r"(?i)\b(?:option|choice|letter|opción|opção|opzione|optie|seçenek|şık|pilihan)\s+\(?(?-i:([A-H]))(?![\p{L}\p{Nd}'’])"
    r"|(?:选项|選項|選択肢|विकल्प|الخيار|선택지)\s*\(?(?-i:([A-H]))(?![\p{L}\p{Nd}])"
)
ENDS = regex.compile(r"\s*(?:$|[.,;:!?。，、！？।)\"”'’—–]|-\s)")
NUMBERED = regex.compile(r"\.\s?\p{Nd}")  # "No. 1"
CAPITALISED = frozenset(("may", "march", "mar", "mon", "sun", "sat", "jan", "dec"))
NUMBER = "number"  # without a unit
SOFT = ("colour", "kin", "side", "season", "part-of-day", "place", "degree")  # decide only between short statements


Sums = set[tuple[float, float]]  # readings of a numeral: what is complete, and the words since


@dataclass(frozen=True, slots=True)
class Value:
    """A typed value at characters [start, end).

    `values` are its readings (7 o'clock is in the morning or in the evening); two values of a kind are equal if they
    share one. `plain` are the numbers without their unit. `weak` ones ("one", "first") seldom mean the number.
    """

    kind: str
    values: frozenset[float | str]
    start: int
    end: int
    shown: str
    plain: frozenset[float] = frozenset()
    weak: bool = False


class ValueIndex:
    """Some values, to look up equal ones: a number without unit equals that number with any unit."""

    def __init__(self, values: Iterable[Value]) -> None:
        values = tuple(values)
        self.readings = {(value.kind, reading) for value in values for reading in value.values}
        self.plain = {number for value in values for number in value.plain}
        self.bare = {number for value in values if value.kind == NUMBER for number in value.plain}

    def holds(self, value: Value) -> bool:
        """Return whether an equal value is among them."""
        if any((value.kind, reading) in self.readings for reading in value.values):
            return True
        return not value.plain.isdisjoint(self.plain if value.kind == NUMBER else self.bare)


class KindIndex:
    """Some values, in the order of their text, to look up the first one of the same kind as another."""

    def __init__(self, values: Iterable[Value]) -> None:
        self.first: dict[str, Value] = {}
        self.first_number: Value | None = None
        for value in values:
            self.first.setdefault(value.kind, value)
            if value.plain and self.first_number is None:
                self.first_number = value

    def comparable(self, value: Value) -> Value | None:
        """Return the first value of the same kind; a number without unit is of the kind of any other number."""
        same = self.first.get(value.kind)
        if same or not value.plain:
            return same
        return self.first_number if value.kind == NUMBER else self.first.get(NUMBER)


class Covered:
    """Ranges that do not overlap, to look up whether another range touches one of them."""

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        self.ranges = sorted(ranges)
        self.starts = [start for start, _ in self.ranges]

    def touches(self, start: int, end: int) -> bool:
        """Return whether [start, end) has a character in common with one of them."""
        at = bisect_left(self.starts, end)
        return at > 0 and self.ranges[at - 1][1] > start


def read_values(text: str, languages: Languages, words: tuple[Word, ...]) -> tuple[Value, ...]:
    """Return the values of a text in order; none overlaps another."""
    fixed = list(_without_overlap([*_dates(text), *_times(text), *_letters(text)]))
    taken = Covered((value.start, value.end) for value in fixed)
    free = tuple(atom for atom in atoms(text, words) if not taken.touches(atom.start, atom.end))
    scanned = _Scanner(text, free, languages).values()
    return tuple(sorted([*fixed, *scanned], key=lambda value: value.start))


def _without_overlap(values: Sequence[Value]) -> Iterator[Value]:
    end = 0
    for value in sorted(values, key=lambda value: (value.start, -value.end)):
        if value.start >= end:
            yield value
            end = value.end


def _dates(text: str) -> Iterator[Value]:
    for match in ISO.finditer(text):
        year, month, day = (int(fold(part)) for part in match.groups())
        if 1 <= month <= 12 and 1 <= day <= 31:
            readings = frozenset((f"{month}-{day}", f"{year}-{month}-{day}"))
            yield Value("date", readings, *match.span(), match.group())
    for match in DAY_FIRST.finditer(text):
        if match.group() == "24/7":  # always
            continue
        day, _, month, year, short_day, short_month = match.groups()
        first, second = (int(fold(part)) for part in ((day, month) if day else (short_day, short_month)))
        readings = (
            [(second, first), (first, second)]
            if first <= 12 and second <= 12
            else [(min(first, second), max(first, second))]
        )
        if all(1 <= month <= 12 and 1 <= day <= 31 for month, day in readings):
            stated = {f"{month}-{day}" for month, day in readings}
            if year and len(year) == 4:
                stated |= {f"{fold(year)}-{reading}" for reading in stated}
            yield Value("date", frozenset(stated), *match.span(), match.group())


def clock(hour: int, minute: int = 0, half: str = "") -> frozenset[float | str]:
    """Return the minutes of the day that a clock time may mean; `half` is "a" or "p", or "" if not stated."""
    if half:
        return frozenset(((hour % 12 + (12 if half == "p" else 0)) * 60.0 + minute,))
    return frozenset(at % 24 * 60.0 + minute for at in ((hour, hour + 12) if 1 <= hour <= 12 else (hour,)))


def _times(text: str) -> Iterator[Value]:
    for match in TIME.finditer(text):
        hour, minute = int(fold(match[1])), int(fold(match[2]))
        colon = ":" in match.group() or match[3] or match[4]  # "7.30" alone is a number
        if hour <= 24 and minute < 60 and colon:
            yield Value("clock", clock(hour, minute, (match[3] or "").lower()), *match.span(), match.group())
    for match in HOUR_AND_MINUTE.finditer(text):
        hour, minute = int(fold(match[1])), int(fold(match[2]))
        if hour <= 24 and minute < 60:
            yield Value("clock", clock(hour, minute), *match.span(), match.group())
    for match in HOUR.finditer(text):
        if (hour := int(fold(match[1]))) <= 24:
            readings = clock(hour, 0, (match[2] or "").lower())
            yield Value("clock", readings, *match.span(), match.group(), frozenset((float(hour),)))


def _letters(text: str) -> Iterator[Value]:
    for pattern in (LETTER, AFTER_LETTER):
        for match in pattern.finditer(text):
            group = 1 if match[1] else 2
            yield Value("option", frozenset((match[group],)), *match.span(group), match[group])


class _Scanner:
    """Reads numbers and listed phrases from atoms, left to right, the longest phrase first."""

    def __init__(self, text: str, free: tuple[Atom, ...], languages: Languages) -> None:
        self.text, self.atoms, self.phrases = text, free, phrases(languages)

    def values(self) -> list[Value]:
        """Return the values in order."""
        values: list[Value] = []
        at = 0
        while at < len(self.atoms):
            concept, number = self._concept(at), self._number(at)
            longer = number if number and (not concept or number[1] > concept[1]) else concept
            if longer:
                values.append(longer[0])
            at = longer[1] if longer else at + 1
        return list(_dated(values, self.text))

    def _entry(self, at: int, kinds: Sequence[str] = (), barred: Sequence[str] = ()) -> Entry | None:
        """Return the longest phrase that begins at an atom, of these kinds if any are given."""
        for first in variants(self.atoms[at].key):
            for entry in self.phrases.get(first, ()):
                if (not kinds or entry.kind in kinds) and entry.kind not in barred and self._stands(at, entry):
                    return entry
        return None

    def _stands(self, at: int, entry: Entry) -> bool:
        """Return whether a phrase stands here; in a script without spaces, one character only as a word of its own."""
        part = self.atoms[at : at + len(entry.key)]
        if len(part) < len(entry.key) or (len(part) == 1 and not part[0].alone):
            return False
        return all(key in variants(atom.key) for atom, key in zip(part, entry.key, strict=True))

    def _concept(self, at: int) -> tuple[Value, int] | None:
        entry = self._entry(at, barred=("cardinal", "ordinal", "multiplier", "unit"))
        if entry is None:
            return None
        last = self.atoms[at + len(entry.key) - 1]
        start, end = self.atoms[at].start, last.end
        if entry.key[0] in CAPITALISED and not self.text[start].isupper():
            return None
        if entry.kind == "yes-no" and (not ENDS.match(self.text, end) or NUMBERED.match(self.text, end)):
            return None
        value = Value(entry.kind, frozenset((entry.value,)), start, end, self.text[start:end])
        return value, at + len(entry.key)

    def _number(self, at: int) -> tuple[Value, int] | None:
        """Return a number with its unit, and the atom after both."""
        money = self._entry(at, ("unit",)) if regex.match(r"\p{Sc}", self.atoms[at].key) else None
        of_hundred = [atom.key for atom in self.atoms[at : at + 3]] == ["百", "分", "之"]
        begun = at + 1 if money else at + 3 if of_hundred else at
        number = self._plain(begun) if begun < len(self.atoms) else None
        if number is None:
            return None
        readings, after, weak, suffix = number
        start, end = self.atoms[at].start, self.atoms[after - 1].end
        value = Value(NUMBER, frozenset(readings), start, end, self.text[start:end], frozenset(readings), weak)
        if of_hundred:
            return replace(value, kind="percent"), after
        if suffix:  # Korean: the counter is a part of the word
            return self._counted(value, suffix), after
        if money:
            return self._with_unit(value, money, end), after
        if after < len(self.atoms) and self._near(after):
            return self._measured(value, at, after)
        return self._at_clock(value, at, end) if self._clock_before(at) else self._year(value), after

    def _near(self, after: int) -> bool:
        """Return whether only spaces, a full stop or a hyphen divide an atom from the one before it."""
        gap = self.text[self.atoms[after - 1].end : self.atoms[after].start]
        return not gap.strip(" \u00a0\u202f.-'’")

    def _measured(self, value: Value, at: int, after: int) -> tuple[Value, int]:
        """Return the number with the unit, month or clock word that follows it."""
        unit = self._entry(after, ("unit",))
        key = next(
            (key for key in variants(self.atoms[after].key)[::-1] if key in CLOCK | {"月", "월", "日", "号", "일"}), ""
        )
        if unit and not (key and len(unit.key) == 1):
            end = self.atoms[after + len(unit.key) - 1].end
            return self._with_unit(value, unit, end), after + len(unit.key)
        if key in CLOCK or self._clock_before(at):
            after += key in CLOCK
            half = key in CLOCK and after < len(self.atoms) and self.atoms[after].key in ("半", "반")
            after += half
            return self._at_clock(value, at, self.atoms[after - 1].end, 30 * half), after
        if key:
            return replace(self._counted(value, key), end=self.atoms[after].end), after + 1
        if self.atoms[after].key in ("年", "년"):
            kind = "year" if min(value.plain) >= 1000 else "month-count"
            readings = frozenset(number * (1 if kind == "year" else 12) for number in value.plain)
            return replace(value, kind=kind, values=readings, end=self.atoms[after].end), after + 1
        return self._year(value), after

    def _clock_before(self, at: int) -> bool:
        return at > 0 and any(key in BEFORE_CLOCK for key in variants(self.atoms[at - 1].key))

    def _at_clock(self, value: Value, at: int, end: int, minute: int = 0) -> Value:
        part = self._part_of_day(at)
        readings = frozenset(
            reading for hour in value.plain if hour <= 24 for reading in clock(int(hour), minute, part)
        )
        return replace(value, kind="clock", values=readings, end=end, shown=self.text[value.start : end])

    def _part_of_day(self, at: int) -> str:
        """Return "a" or "p" if the words before a clock time say so."""
        for back in range(max(at - 2, 0), at):
            entry = self._entry(back, ("part-of-day",))
            if entry and entry.value in MORNING | EVENING:
                return "a" if entry.value in MORNING else "p"
        return ""

    def _counted(self, value: Value, key: str) -> Value:
        """Return the number as a month or as a day of one, if that is what its counter means."""
        kind = {"月": "month", "월": "month", "日": "day", "号": "day", "일": "day"}.get(key)
        if kind is None:
            return value
        return replace(value, kind=kind, values=frozenset(str(int(number)) for number in value.plain))

    def _with_unit(self, value: Value, unit: Entry, end: int) -> Value:
        dimension, factor = unit.value.split(" ")
        readings = frozenset(round(number * float(factor), 6) for number in value.plain)
        start = min(value.start, end)
        return replace(value, kind=dimension, values=readings, end=end, shown=self.text[start:end], weak=False)

    def _year(self, value: Value) -> Value:
        number = max(value.plain, default=0)
        digits = self.text[value.start : value.end].isdecimal()
        return replace(value, kind="year") if digits and 1000 <= number <= 2100 else value

    def _plain(self, at: int) -> tuple[set[float], int, bool, str] | None:
        """Return readings of a number, the atom after it, whether it is weak, and a counter inside its last word."""
        key = self.atoms[at].key
        if key[0].isdecimal():
            readings, after = _digits(key), at + 1
            part = self._fraction(at)
            if part:
                return {part}, after, False, ""
            if after < len(self.atoms) and self._continues(after) and (part := self._fraction(after)):
                readings, after = {number + part for number in readings}, after + 1
            if after < len(self.atoms) and self.atoms[after].key in (
                "st",
                "nd",
                "rd",
                "th",
                "e",
                "er",
                "eme",
                "inci",
                "nci",
            ):
                return readings, after + 1, False, ""
            return *self._multiplied(readings, after), False, ""
        if HAN.fullmatch(key):
            return self._han(at)
        if (match := SINO_KOREAN.match(key)) and (korean := _korean(match.group())):
            rest = key[match.end() :]
            counter = rest[:1] if rest[:1] in ("월", "일") else ""
            return {korean}, at + 1, False, counter
        entry = self._entry(at, ("cardinal", "ordinal"))
        if entry is None:
            return None
        readings = {float(entry.value)}
        weak = entry.value in ("0", "1") or (entry.kind == "ordinal" and entry.value == "2")
        if entry.kind == "ordinal":
            return readings, at + len(entry.key), weak, ""
        value = float(entry.value)
        factor = 1000.0 if value == 1000 else 100.0 if value >= 100 else 1.0
        readings, after = self._multiplied(readings, at + len(entry.key), factor)
        return readings, after, weak and readings == {float(entry.value)}, ""

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
        while factor >= 100 and after < len(self.atoms) and self._continues(after):
            rest = after + (self.atoms[after].key in ("and", "und", "y", "e"))
            small = self._entry(rest, ("cardinal",)) if rest < len(self.atoms) else None
            value = float(small.value) if small else factor
            if small is None or value >= factor:
                break
            sums, after = {(total, number + value) for total, number in sums}, rest + len(small.key)
            factor = 100.0 if value >= 100 else 0.0
        return sums, after

    def _continues(self, after: int) -> bool:
        """Return whether an atom stands in the same numeral as the one before it: spaces or a hyphen are between."""
        return not self.text[self.atoms[after - 1].end : self.atoms[after].start].strip(" \u00a0\u202f-")

    def _han(self, at: int) -> tuple[set[float], int, bool, str] | None:
        """Return a Han numeral: of two signs, before a counter, or all of the text."""
        after = at
        while after < len(self.atoms) and HAN.fullmatch(self.atoms[after].key):
            after += 1
        following = self.atoms[after].key if after < len(self.atoms) and self._near(after) else ""
        counted = following in COUNTERS and not (after - at == 1 and self.atoms[at].key + following == "十分")
        if after - at < 2 and not counted and len(self.atoms) > 1:
            return None
        number = _han_number("".join(atom.key for atom in self.atoms[at:after]))
        return {number}, after, number == 1, ""


def _dated(values: Sequence[Value], text: str) -> Iterator[Value]:
    """Join a month and the number beside it to a date ("3 May", "May 3rd", "5月3日")."""
    at = 0
    while at < len(values):
        pair = values[at : at + 2]
        date = _date(pair[0], pair[1], text) if len(pair) == 2 else None
        yield date or values[at]
        at += 2 if date else 1


def _date(left: Value, right: Value, text: str) -> Value | None:
    gap = fold(text[left.end : right.start]).strip(" .,")
    month, day = (left, right) if left.kind == "month" else (right, left)
    if month.kind != "month" or gap not in ("", "of", "de", "di", "the", "के", "की"):
        return None
    days = [number for number in day.plain if number == int(number) and 1 <= number <= 31]
    if day.kind not in ("number", "day") or not days:
        return None
    readings = frozenset(f"{month_number}-{int(number)}" for month_number in month.values for number in days)
    return Value("date", readings, left.start, right.end, text[left.start : right.end])


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


def _korean(signs: str) -> float:
    return _by_powers(signs, KOREAN_DIGITS, KOREAN_POWERS)


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
