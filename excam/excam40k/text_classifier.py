"""The classifier that sees one view of a row: of every shortcut and of every trivial baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import regex
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression

LONGEST = 1500  # characters of a text that words and characters are taken from

_WORD = regex.compile(r"\w+")  # with vowel signs and other marks, which end a word for sklearn

Labels = NDArray[np.bool_]


def fit(matrix: Any, labels: Labels) -> LogisticRegression:
    """Return the fitted classifier; `labels` holds both classes."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(solver="liblinear", random_state=0).fit(matrix, labels)


def halves(units: NDArray[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield (places to learn from, places to test) for both ways between two halves of the units; none for one unit."""
    from sklearn.model_selection import GroupKFold

    if len(set(units)) > 1:
        yield from GroupKFold(2, shuffle=True, random_state=0).split(np.zeros(len(units)), groups=units)


def token_matrix(token_lists: Sequence[Sequence[str]]) -> Any:
    """Return one sparse row per list of tokens: which of them are there."""
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer(analyzer=list, binary=True).fit_transform(token_lists)  # pyright: ignore # a function


def word_matrix(texts: Sequence[str]) -> Any:
    """Return one sparse row per text: its words and pairs of words that at least two texts have.

    It is made from all texts at once: it uses no label, and a word that no training row has gets no weight.
    """
    return _counted(texts, ngram_range=(1, 2), tokenizer=_WORD.findall, token_pattern=None)


def character_matrix(texts: Sequence[str]) -> Any:
    """Return one sparse row per text: runs of two to four characters inside words."""
    return _counted(texts, analyzer="char_wb", ngram_range=(2, 4))


def _counted(texts: Sequence[str], **settings: Any) -> Any:
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        return TfidfVectorizer(sublinear_tf=True, min_df=2, **settings).fit_transform(
            [text[:LONGEST] for text in texts]
        )
    except ValueError:  # no word that two texts have
        return csr_matrix((len(texts), 1))


def interval(sums: NDArray[np.float64], sizes: NDArray[np.float64], level: float) -> tuple[float, float, float]:
    """Return scaled accuracy (right minus wrong guesses over guesses) with the ends of its t interval over groups.

    `sums`: right minus wrong guesses of each group, `sizes`: its guesses.
    """
    from scipy.special import stdtrit

    scaled, groups = float(sums.sum() / sizes.sum()), len(sums)
    if groups < 2:
        return scaled, -1.0, 1.0
    rest = sums - scaled * sizes
    error = (groups / (groups - 1) * float(rest @ rest)) ** 0.5 / float(sizes.sum())
    half = float(stdtrit(groups - 1, (1 + level) / 2)) * error
    return scaled, max(-1.0, scaled - half), min(1.0, scaled + half)


def by_group(groups: Sequence[str] | NDArray[Any], hits: Labels) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return right minus wrong guesses, and guesses, of each group."""
    _, number = np.unique(np.asarray(groups), return_inverse=True)
    sums = np.bincount(number, weights=np.where(hits, 1.0, -1.0)).astype(np.float64)
    return sums, np.bincount(number).astype(np.float64)
