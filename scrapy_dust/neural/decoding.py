"""Has the network translate URLs, greedily or by a beam, into plausible URLs, and says how sure the network is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from scrapy_dust.neural.network import Network, Read, pad_rows
from scrapy_dust.neural.plausible_urls import Forms
from scrapy_dust.neural.vocabulary import BEGIN, EOS, Reading, Symbols, Vocabulary

#: A translation is not longer than what was read by more than this.
_LONGER = 10
_BATCH = 256


@dataclass(frozen=True, slots=True)
class Translation:
    """One translation, with its probability."""

    symbols: Symbols
    probability: float  #: that the network gives it, of all that it could say


@dataclass(slots=True)
class _Hypothesis:
    """The beginning of a translation, with the logarithm of its probability."""

    symbols: Symbols
    log: float
    row: int  #: in the batch that is decoded


class Decoder:
    """A decoder that has a trained network translate URLs."""

    def __init__(self, network: Network, vocabulary: Vocabulary, beam: int, forms: Forms | None) -> None:
        self._network, self._vocabulary = network.eval(), vocabulary
        self._beam, self._forms = beam, forms
        self._device = next(network.parameters()).device

    def translate(self, readings: Sequence[Reading]) -> list[Translation | None]:
        """A translation of each reading; None where it does not end, or is not plausible."""
        order = sorted(range(len(readings)), key=lambda one: len(readings[one].ids))
        found: dict[int, Translation | None] = {}
        with torch.inference_mode():
            for at in range(0, len(order), _BATCH):
                batch = order[at : at + _BATCH]
                found.update(zip(batch, self._decode_together([readings[one] for one in batch]), strict=True))
        return [found[number] for number in range(len(readings))]

    def _decode_together(self, readings: Sequence[Reading]) -> list[Translation | None]:
        """The translations of one batch of readings."""
        ids, lengths = pad_rows([reading.ids for reading in readings], self._device)
        all_read, state = self._network.read(ids, lengths)
        open_: list[list[_Hypothesis]] = [[_Hypothesis((), 0.0, row)] for row in range(len(readings))]
        ended: list[Translation | None] = [None] * len(readings)
        for _ in range(ids.shape[1] + _LONGER):
            living = [(number, one) for number, beam in enumerate(open_) for one in beam]
            if not living:
                break
            read = all_read.select(torch.tensor([number for number, _ in living], device=self._device))
            state = state[:, torch.tensor([one.row for _, one in living], device=self._device)]
            said = [one.symbols[-1] if one.symbols else BEGIN for _, one in living]
            logs, state = self._log_probabilities(read, said, state)
            open_ = [[] for _ in readings]
            for number, following in self._next_hypotheses(living, logs, readings):
                self._sort_hypotheses(following, open_[number], number, ended)
        return ended

    def _log_probabilities(self, read: Read, said: list[int], state: Tensor) -> tuple[Tensor, Tensor]:
        """The logarithm of each symbol's probability to follow *said*, and the state of the network then."""
        scores, state = self._network(read, torch.tensor(said, device=self._device)[:, None], state)
        return torch.log_softmax(scores[:, 0].float(), dim=1).cpu(), state

    def _next_hypotheses(
        self, living: Sequence[tuple[int, _Hypothesis]], logs: Tensor, readings: Sequence[Reading]
    ) -> list[tuple[int, list[_Hypothesis]]]:
        """For each reading, the hypotheses that may follow the living ones, the likeliest first."""
        if self._forms is not None:
            logs = logs + self._allowed_mask(living, logs, readings)
        best, symbols = logs.topk(min(self._beam + 1, logs.shape[1]), dim=1)
        found: dict[int, list[_Hypothesis]] = {}
        for row, ((number, one), values, names) in enumerate(
            zip(living, best.tolist(), symbols.tolist(), strict=True)
        ):
            found.setdefault(number, []).extend(
                _Hypothesis((*one.symbols, name), one.log + value, row)
                for value, name in zip(values, names, strict=True)
                if value > -torch.inf
            )
        return [(number, sorted(them, key=lambda one: -one.log)) for number, them in found.items()]

    def _allowed_mask(
        self, living: Sequence[tuple[int, _Hypothesis]], logs: Tensor, readings: Sequence[Reading]
    ) -> Tensor:
        """Numbers to add to *logs* so that only symbols which lead to plausible URLs remain."""
        assert self._forms is not None
        mask = torch.full_like(logs, -torch.inf)
        for row, (number, one) in enumerate(living):
            reading = readings[number]
            copying = self._vocabulary.argument_symbols(reading)
            own = self._vocabulary.own_symbols(reading)
            mask[row, list(self._forms.allowed(one.symbols, own, copying))] = 0.0
        return mask

    def _sort_hypotheses(
        self,
        following: Sequence[_Hypothesis],
        beam: list[_Hypothesis],
        number: int,
        ended: list[Translation | None],
    ) -> None:
        """Move those of *following* that have ended to *ended*, and keep the best others in *beam*, as many as it is wide."""
        for one in following[: self._beam]:
            done = ended[number]
            probability = math.exp(one.log)
            if done is not None and done.probability >= probability:
                continue
            if one.symbols[-1] == EOS:
                ended[number] = Translation(one.symbols[:-1], probability)
            else:
                beam.append(one)
