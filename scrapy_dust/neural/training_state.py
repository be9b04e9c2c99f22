"""The state of training, as plain values: pairs of a URL and its translation, the progress of each epoch, and weights.
PyTorch is not needed to read them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Arrays = Mapping[str, npt.NDArray[np.generic]]  #: weights and the like, by name


class Pair(NamedTuple):
    """A URL as it is read, and the symbols of its translation."""

    ids: tuple[int, ...]
    symbols: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Epoch:
    """The progress of training after one epoch."""

    number: int  #: from 1
    loss: float  #: mean over the tokens learned from
    held_out: float | None  #: the same of what is held out; None: nothing is
    seconds: float  #: since training began, what was done before an interruption included


@dataclass(frozen=True, slots=True)
class State:
    """The state from which training can go on, or its result when it has ended."""

    epochs: tuple[Epoch, ...] = ()
    weights: Arrays = field(default_factory=dict)
    best: Arrays = field(default_factory=dict)  #: the weights after the best epoch
    optimizer: Arrays = field(default_factory=dict)

    @property
    def best_epoch(self) -> Epoch | None:
        """The epoch with the least loss on the held-out pairs, or on all pairs where none are held out."""
        return min(self.epochs, key=_loss_rank, default=None)

    def is_over(self, epochs: int, patience: int) -> bool:
        """Whether training has ended: after *epochs* epochs, or after *patience* epochs without an improvement."""
        best = self.best_epoch
        if best is None:
            return False
        return len(self.epochs) >= epochs or len(self.epochs) - best.number >= patience


def _loss_rank(epoch: Epoch) -> tuple[float, int]:
    """A sort key that is least for the epoch with the least loss on held-out pairs."""
    return epoch.loss if epoch.held_out is None else epoch.held_out, epoch.number
