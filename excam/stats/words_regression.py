"""What the words of a text alone say of a label: ridge regression on bags of words, cross-validated by group."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
import regex
from numpy.typing import NDArray

from excam.core.exceptions import InputInvalid
from excam.stats.clusters import cluster_numbers, content_keys
from excam.stats.correlation import Numbers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FOLDS = 5
PENALTY = 1.0  # of squared weights, for rows of length 1
DIGITS = (
    9  # behind the point of predictions in units of the largest label's distance from the mean; others are rounding
)
_NO_SPACES = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_WORD = regex.compile(rf"[{_NO_SPACES}]|[\w--[{_NO_SPACES}]]+", regex.VERSION1)
Floats = NDArray[np.floating[Any]]


def words(text: str) -> list[str]:
    """Return the case-folded words of a text; in a script without spaces each character is one."""
    return _WORD.findall(text.casefold())


def predictions_from_words(texts: Sequence[str], labels: Numbers, groups: Sequence[Hashable], seed: int = 0) -> Floats:
    """Return how far the label predicted from a text's words is from the mean label, shape (texts,).

    The groups, those of equal texts as one, are divided into `FOLDS` parts at random, and each part is predicted from
    the others, relative to their mean label: with their mean itself, a part of high labels would be predicted low. All
    0 for fewer than two groups. The order of rows decides nothing, and the labels' scale that of the predictions alone.
    Raise InputInvalid for unequal lengths.

    Args:
        texts: of each row
        labels: of each row
        groups: of each row; what is learnt from one predicts no row of it
        seed: of the folds
    """
    if not len(texts) == len(labels) == len(groups):
        raise InputInvalid(f"got {len(texts)} texts, {len(labels)} labels and {len(groups)} groups, expected as many")
    number, text = (
        cluster_numbers(groups, len(groups)),
        np.unique(np.array(texts, dtype=object), return_inverse=True)[1],
    )
    distinct, group = np.unique(content_keys(number, text), return_inverse=True)
    predicted = np.zeros(len(texts))
    if len(distinct) < 2:
        return predicted
    target, unit = in_own_units(labels)
    order = np.lexsort((target, text))
    fold, target = (np.random.default_rng(seed).permutation(len(distinct)) % FOLDS)[group[number[order]]], target[order]
    bags = _bags([texts[int(at)] for at in order])
    for number in range(FOLDS):
        held_out = fold == number
        if held_out.any() and not held_out.all():
            others = np.flatnonzero(~held_out)
            weights = _ridge(bags[others], target[others] - target[others].mean())
            predicted[order[held_out]] = bags[np.flatnonzero(held_out)] @ weights
    return np.round(predicted, DIGITS) * unit


def in_own_units(labels: Numbers) -> tuple[Floats, float]:
    """Return the labels' distances from their mean, of which the largest is 1, and what that was; 0 for equal ones."""
    distances = np.asarray(labels, dtype=np.float64) - fmean(labels)
    unit = float(np.abs(distances).max())
    return (np.round(distances / unit, 12), unit) if unit else (distances, unit)


def _bags(texts: Sequence[str]) -> csr_array:
    """Return the texts as rows of length 1, of which words they have, weighted by how rare these are (TF-IDF)."""
    from scipy.sparse import csr_array, diags_array

    vocabulary: dict[str, int] = {}
    columns, ends = list[int](), [0]
    for text in texts:
        columns.extend(vocabulary.setdefault(word, len(vocabulary)) for word in dict.fromkeys(words(text)))
        ends.append(len(columns))
    shape = len(texts), max(1, len(vocabulary))
    rarity = np.log((1 + len(texts)) / (1 + np.bincount(columns, minlength=shape[1]))) + 1
    bags = csr_array((rarity[columns], columns, ends), shape=shape)
    length = np.sqrt(np.asarray(bags.multiply(bags).sum(axis=1)).ravel())
    return csr_array(diags_array(1 / np.maximum(length, 1e-300)) @ bags)


def _ridge(rows: csr_array, target: Floats) -> Floats:
    """Return the weights of a ridge regression without an intercept."""
    from scipy.sparse.linalg import lsqr

    return lsqr(rows, target, damp=PENALTY**0.5, atol=1e-9, btol=1e-9, iter_lim=500)[0]
