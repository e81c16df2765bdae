"""Text for `bench.raw`: pseudo-sentences in fifteen scripts, drawn by Zipf's law, fast enough for millions of words.

The words are no one's: English ones from a list, those of other scripts put together from syllables. On request a
sentence holds words that `excam.construction.lexicon` can exchange.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from excam.construction.lexicon import ITEMS, NORMS, SMALL, entries

# The most frequent first: words are drawn by rank.
ENGLISH = """the of and to in a that people for on with as by at from this their when who or which about during how they
family guests food home during local common village town often day year children friends community traditional meal
young school work evening market street music house table time group small large old new together before after many
some every each between around near story event song neighbour cousin teacher visitor farmer river mountain coast city
bread rice soup tea spice bowl plate kitchen garden window door lamp candle flower cloth thread colour pattern dress
shoe hat ring coin letter book paper word name voice language greeting custom practice habit rule value belief belongs
offers shares keeps brings takes gives holds wears sings dances cooks serves invites visits greets bows waits listens
speaks writes reads learns teaches builds repairs plants harvests sells buys pays saves travels walks rides celebrates
remembers honours respects thanks asks answers agrees decides expects prefers avoids begins ends follows gathers joins
patient warm quiet loud bright simple rich poor busy free clean fresh sweet salty bitter soft heavy light early late
modern rural urban northern southern eastern western coastal public private formal informal careful honest proud calm
wedding funeral birth harvest season holiday ceremony prayer temple church shrine festival parade dance game match team
ball race prize player score crowd ticket station bus train boat bridge road corner square shop office bank court
hospital doctor nurse medicine health sleep dream morning night winter summer rain snow wind sun moon star field forest
animal horse goat sheep chicken fish dog cat bird tree leaf fruit apple lemon onion pepper salt sugar honey milk oil
butter cheese egg meat bean corn flour cake pie dish drink water coffee wine beer juice cup glass knife spoon fork
elder parent mother father sister brother uncle aunt grandparent neighbourhood council leader worker student artist
writer painter singer soldier merchant tailor baker potter weaver hunter sailor judge law tax vote party nation border
history memory legend proverb riddle joke news radio film phone photo message card gift present promise secret trust
pride shame joy grief anger fear hope luck wealth debt honour duty respect kindness patience courage wisdom silence
against across among behind below beside beyond inside outside toward under until upon within without because although
while whether unless since though thus hence rather quite almost nearly mostly mainly partly fully soon later again
instead meanwhile therefore however moreover besides otherwise perhaps maybe indeed certainly probably especially"""

SYLLABLES = {
    "Latin": "an ar be bo da de du el en er fa ga ge ha il in ka ke ki la le li lo ma me mi na ne no on or pa pe ra "
    "re ri ro sa se si so ta te ti to un ur va ve vi za zo ça ö ş ğı ü é",
    "Cyrillic": "на по ра сто ре ве ко ли то ми ну ша ды же ле при за во го де ка не ни но об от пе про ри ро ста та "
    "те ти тра ут ход че ще юж яр",
    "Greek": "αν απο βα γε γι δε δια εκ εν επι ζω θε ια κα κο λε λο με μο να νε ξε ομ πα πε πο ρα ρι σα σε στο τα τε "
    "το υπ φι χα ψη ως",
    "Arabic": "با بر تا تم جا حد خا دا ذه را رو زا سا سم شا صا ضا طا ظا عا عل غا فا في قا كا كت لا ما من نا نو ها وا "
    "يا ين",
    "Hebrew": "אב אל בא בר גד דו הו וע זה חב טו יד כל לא מא מש נו סף עם פה צו קר רא שב תו",
    "Devanagari": "का की के को गा घर चा जी टा ता ती दे ना नी पा पु बा भा मा मि या रा री ला ले वा वि शा सा सी हा हि "
    "ज्ञा त्र क्ष आ अ इ उ",
    "Bengali": "কা কি কে খা গা ঘর চা জা টা তা তি দে না নি পা পু বা ভা মা মি যা রা রি লা লে শা সা সি হা হি আ অ ই উ",
    "Tamil": "க கா கி கு ச சா சி ட டு த தா தி ந நா நி ப பா பி ம மா மி ய யா ர ரா ரி ல லா வ வா வி ழ ள ற ன",
    "Telugu": "క కా కి కు గ గా చ చా జ ట త తా తి ద దా న నా ని ప పా పు బ మ మా మి య ర రా రి ల లా వ వా స సా హ",
    "Malayalam": "ക കാ കി കു ഗ ച ചാ ജ ട ത താ തി ദ ന നാ നി പ പാ പു ബ മ മാ മി യ ര രാ രി ല ലാ വ വാ സ സാ ഹ",
    "Armenian": "ան ար բա գա դե ես զի թե ին լա կա հա մա յա նա շա որ չի պա սա վա տա ցի փո քա",
    "Georgian": "ან ბა გა და ეს ვა ზე თა ის კა ლა მა ნი ობა პა რა სა ტე უ ფა ქა ღა ყო ში ჩა ცი ძე წა ხა ჯა",
    "Hangul": "가 강 고 국 기 나 날 노 다 대 도 동 라 러 로 마 만 말 모 문 미 바 밥 방 보 부 사 산 서 성 소 수 시 아 "
    "안 어 여 오 우 음 이 인 일 자 장 전 정 제 조 주 지 집 차 천 청 하 한 해 행 화",
    "Kana": "あ い う か き く こ さ し す せ そ た ち つ て と な に の は ひ ふ ま み め も や ゆ よ ら り る れ "
    "わ 人 家 年 日 食 町 村 花 祭 酒 米 茶 国 語",
    "Han": "人 家 年 日 食 城 村 花 节 酒 米 茶 国 语 山 水 风 雨 月 春 夏 秋 冬 天 地 东 西 南 北 红 白 黑 金 木 火 "
    "土 书 画 歌 舞 衣 布 门 窗 桌 椅 路 桥 船 车 马 牛 羊 鸡 鱼 鸟 树 叶 果 菜 饭 面 汤 盐 糖 油 父 母 兄 弟 姐 妹 "
    "师 友 客 主 老 少 男 女 儿 孙 婚 丧 礼 拜 送 收 给 坐 立 行 走 来 去 看 听 说 写 读 想 知 爱 喜 怒 哀 乐",
}
SCRIPTS = {
    **dict.fromkeys(("Belarusian", "Bulgarian", "Kazakh", "North Macedonian", "Russian", "Serbian"), "Cyrillic"),
    **dict.fromkeys(("Ukrainian", "Kyrgyz"), "Cyrillic"),
    **dict.fromkeys(("Arabic", "Persian", "Urdu", "Pashto", "Balochi"), "Arabic"),
    **dict.fromkeys(("Hindi", "Nepali"), "Devanagari"),
    **dict.fromkeys(("Bengali", "Assamese"), "Bengali"),
    **{"Greek": "Greek", "Hebrew": "Hebrew", "Tamil": "Tamil", "Telugu": "Telugu", "Malayalam": "Malayalam"},
    **{"Armenian": "Armenian", "Georgian": "Georgian", "Korean": "Hangul", "Japanese": "Kana", "Chinese": "Han"},
}  # all others: Latin
UNSPACED = ("Chinese", "Japanese")
STOPS = {"Han": "。", "Kana": "。", "Devanagari": "।", "Bengali": "।"}
LEXICON_NAMES = {"Bengali": "Bangla"}
WORDS = 400  # of a language that is put together from syllables
SENTENCE = 14  # words between full stops, on average
EXCHANGEABLE = 20  # words between two that `lexicon` knows, beside the two that every known sentence has


@cache
def vocabulary(language: str) -> tuple[str, ...]:
    """Words of a language, the most frequent first; always the same ones."""
    if language == "English":
        return tuple(dict.fromkeys(ENGLISH.split()))
    syllables = SYLLABLES[SCRIPTS.get(language, "Latin")].split()
    rng = np.random.default_rng([len(language), *language.encode()])
    longest = 2 if language in UNSPACED else 4
    words: dict[str, None] = {}
    while len(words) < WORDS:
        words["".join(rng.choice(syllables, rng.integers(1, longest + 1)))] = None
    return tuple(words)


@cache
def exchangeable(language: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Words that `lexicon` exchanges for a minor error, for a major one, and all of them; empty: none known."""
    name = LEXICON_NAMES.get(language, language)
    known = [entry for entry in entries() if entry.language == name and entry.kind != "norm/yes"]
    minor = tuple(entry.surface for entry in known if entry.family in SMALL - ITEMS)
    major = tuple(entry.surface for entry in known if entry.family in NORMS | {"negation"})
    return minor, major, tuple(entry.surface for entry in known)


def lengths(rng: np.random.Generator, count: int, mean: float, least: int = 1, most: int = 10_000) -> np.ndarray:
    """Numbers of words, skewed as those of real texts are: log-normal with this mean."""
    drawn = rng.lognormal(np.log(mean) - 0.5 * 0.6**2, 0.6, count)
    return np.clip(np.rint(drawn), least, most).astype(np.int64)


class Prose:
    """Running text of one language, each piece of it given out once."""

    def __init__(self, language: str, rng: np.random.Generator) -> None:
        words = vocabulary(language)
        stop = STOPS.get(SCRIPTS.get(language, "Latin"), ".")
        self.rng = rng
        self.joint = "" if language in UNSPACED else " "
        self.known = exchangeable(language)
        self.size = len(words)
        forms = [*words, *(word + stop for word in words), *(word[:1].upper() + word[1:] for word in words)]
        self.forms = np.array([*forms, *self.known[0], *self.known[1], *self.known[2]], dtype=object)
        self.lengths = np.array([len(form) + len(self.joint) for form in self.forms])
        weights = 1 / (np.arange(self.size) + 2.7)
        self.share = np.cumsum(weights / weights.sum())

    def phrases(self, words: np.ndarray, known: bool = False, sentences: bool = True) -> list[str]:
        """One piece of text for each number of words; `known`: with words that `lexicon` can exchange."""
        ends = np.cumsum(words)
        ranks = np.minimum(np.searchsorted(self.share, self.rng.random(ends[-1])), self.size - 1)
        if sentences:
            stops = self.rng.random(len(ranks)) < 1 / SENTENCE
            stops[ends - 1] = True
            capitals = np.roll(stops, 1) & ~stops
            ranks += self.size * stops + 2 * self.size * capitals
        if known and all(self.known):
            self._exchange(ranks, ends - words, words)
        offsets = np.concatenate([[0], np.cumsum(self.lengths[ranks])])
        running = self.joint.join(self.forms[ranks].tolist())
        joint = len(self.joint)
        bounds = zip(offsets[ends - words].tolist(), (offsets[ends] - joint).tolist(), strict=True)
        return [running[start:end] for start, end in bounds]

    def _exchange(self, ranks: np.ndarray, starts: np.ndarray, words: np.ndarray) -> None:
        """Put a word for a minor and one for a major error into every piece, and others here and there."""
        first = 3 * self.size
        minor, major, every = map(len, self.known)
        plain = np.flatnonzero((ranks < self.size) & (self.rng.random(len(ranks)) < 1 / EXCHANGEABLE))
        ranks[plain] = first + minor + major + self.rng.integers(0, every, len(plain))
        long = words >= 5
        at, size = starts[long], words[long]
        ranks[at + size // 3] = first + self.rng.integers(0, minor, len(at))
        ranks[at + 2 * size // 3] = first + minor + self.rng.integers(0, major, len(at))

    def questions(self, words: np.ndarray) -> list[str]:
        """Pieces that end in a question mark."""
        return [phrase[:1].upper() + phrase[1:] + "?" for phrase in self.phrases(words, sentences=False)]


def spread(total: int, parts: int) -> list[int]:
    """`total` divided evenly into parts of at least one."""
    return [max(1, total // parts + (part < total % parts)) for part in range(parts)]


def tokens(rng: np.random.Generator, count: int, size: int) -> list[str]:
    """Random hexadecimal ids of `size` characters (an even number)."""
    raw = rng.bytes(count * size // 2).hex()
    return [raw[start : start + size] for start in range(0, count * size, size)]


def chosen(rng: np.random.Generator, names: Sequence[str], count: int, weights: Sequence[float] = ()) -> list[str]:
    """`count` of the names, at random; with weights, by their shares."""
    share = np.asarray(weights) / np.sum(weights) if len(weights) else None
    return [str(names[place]) for place in rng.choice(len(names), count, p=share).tolist()]
