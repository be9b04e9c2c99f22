"""A trained network as a value of plain numbers, without PyTorch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from scrapy_dust.neural.params import NetworkParams
from scrapy_dust.neural.training_data import TrainingData
from scrapy_dust.neural.training_state import Arrays, State
from scrapy_dust.neural.vocabulary import Symbols, Vocabulary


@dataclass(frozen=True, slots=True)
class Model:
    """A trained network: parameters, vocabulary, known forms of URLs, and weights."""

    site: str
    params: NetworkParams
    vocabulary: Vocabulary
    forms: Sequence[Symbols]
    trained_on: str  #: the digest of what it learned from
    state: State
    scores: Mapping[str, float | int] = field(default_factory=dict)  #: as its card has them

    @property
    def weights(self) -> Arrays:
        """The weights of the best epoch."""
        return self.state.best

    @property
    def size(self) -> int:
        """The number of weights that were learned."""
        return sum(int(value.size) for value in self.weights.values())


def model_of(data: TrainingData, params: NetworkParams, state: State) -> Model:
    """The model that training has reached."""
    return Model(data.site, params, data.vocabulary, data.forms, data.digest, state)
