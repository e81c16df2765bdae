"""How alike two explanations are, from the embeddings of their word pieces; and whose explanation to compare by chance.

The similarity is that of BERTScore (Zhang et al. 2020) without idf weights and without rescaling: each word piece of
one text is matched to the most similar one of the other, greedily, by cosine. Contextual embeddings are never far
apart, so a value means something only beside a floor: what the explanation of another row gets.

Pure functions on vectors and names; no files, no models.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Similarity:
    """Of a text to a reference; each at most 1, the same text."""

    precision: float  # mean over the text's word pieces of the best cosine with one of the reference
    recall: float  # mean over the reference's word pieces of the best cosine with one of the text
    f1: float
    cosine: float  # of the two sentence embeddings, which is what a sentence-embedding model was trained for


NOTHING_SAID = Similarity(0.0, 0.0, 0.0, 0.0)  # where one of the two texts has no word, as in BERTScore


def similarity(text: tuple[Vectors, Vectors], reference: tuple[Vectors, Vectors]) -> Similarity:
    """Of two texts, each its word pieces [n, d] and its sentence embedding [d], all of length 1; 0 where n is 0."""
    (pieces, sentence), (others, other_sentence) = text, reference
    if not len(pieces) or not len(others):
        return NOTHING_SAID
    cosines = pieces @ others.T
    precision, recall = (float(np.mean(cosines.max(axis=axis), dtype=np.float64)) for axis in (1, 0))
    f1 = 2 * precision * recall / (precision + recall) if min(precision, recall) > 0 else 0.0
    return Similarity(precision, recall, f1, float(np.dot(sentence, other_sentence)))


def strangers(groups: Sequence[Hashable]) -> list[int | None]:
    """For each item the position of another one, of another group, each taken at most once: a derangement.

    Items are laid out group by group, groups in order of first appearance, and turned by the size of the largest group.
    None where that ends in the item's own group, which it does only where one group has more than half of the items:
    no derangement exists then, and no other leaves fewer without.
    """
    sizes = Counter(groups)
    first = {group: place for place, group in enumerate(sizes)}
    order = sorted(range(len(groups)), key=lambda item: first[groups[item]])
    turn = max(sizes.values(), default=0)
    found: list[int | None] = [None] * len(groups)
    for place, item in enumerate(order):
        other = order[(place + turn) % len(order)]
        found[item] = other if groups[other] != groups[item] else None
    return found
