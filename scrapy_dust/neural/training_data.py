"""Makes training data of a site's log: URLs as the network reads them, the symbols that it should answer, and the part
that is held out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from xxhash import xxh3_128_hexdigest

from scrapy_dust.neural.params import NetworkParams
from scrapy_dust.neural.plausible_urls import form_of
from scrapy_dust.neural.training_pairs import clusters_of, duplicates_in, targets_of
from scrapy_dust.neural.training_state import Pair
from scrapy_dust.neural.vocabulary import UNKNOWN, Symbols, Vocabulary, vocabulary_of
from scrapy_dust.visits.pages import SiteLog

#: Canonical URLs below which none are held out.
_FEW = 10


@dataclass(frozen=True, slots=True)
class TrainingData:
    """The training data of one site."""

    site: str
    vocabulary: Vocabulary
    pairs: Sequence[Pair]
    held_out: Sequence[Pair]
    forms: Sequence[Symbols]  #: of the log's URLs
    clusters: int
    duplicates: int  #: URLs that are not the one that stands for their cluster
    untold: int  #: pairs that are not learned from: they need a token that can be neither spelled nor copied

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to learn from."""
        return not self.pairs or not self.duplicates

    @property
    def digest(self) -> str:
        """A digest of everything that training depends on, except its parameters."""
        told = (self.site, self.vocabulary.functions, tuple(self.pairs), tuple(self.held_out), self.forms)
        return xxh3_128_hexdigest(repr(told).encode("utf-8", "surrogatepass"))


def training_data_of(site: str, log: SiteLog, params: NetworkParams) -> TrainingData:
    """The training data that *log* gives."""
    clusters = clusters_of(log)
    targets = targets_of(clusters, singles=params.singles)
    urls = [url for members in clusters for url in members]
    vocabulary = vocabulary_of(urls, targets, params.frequency, whole=params.whole, copies=params.copies)
    told = dict(_expressible_pairs(targets, vocabulary))
    chosen = _held_out_targets(targets, params)
    forms = {form_of(vocabulary, reading) for url in urls if (reading := vocabulary.encode(url)) is not None}
    return TrainingData(
        site,
        vocabulary,
        [pair for url, pair in told.items() if targets[url] not in chosen],
        [pair for url, pair in told.items() if targets[url] in chosen],
        sorted(forms) if params.plausible else (),
        len(clusters),
        duplicates_in(targets),
        len(targets) - len(told),
    )


def _expressible_pairs(targets: Mapping[str, str], vocabulary: Vocabulary) -> Iterator[tuple[str, Pair]]:
    """The training pairs that the network can express. An argument that only the target has is noise."""
    for url, target in targets.items():
        reading = vocabulary.encode(url)
        if reading is not None:
            symbols = vocabulary.symbols(reading, target)
            if UNKNOWN not in symbols:
                yield url, Pair(reading.ids, symbols)


def _held_out_targets(targets: Mapping[str, str], params: NetworkParams) -> set[str]:
    """Some of the canonical URLs, which are held out with all URLs that translate to them."""
    canonical = list(dict.fromkeys(targets.values()))
    if len(canonical) < _FEW:
        return set()
    Random(params.seed).shuffle(canonical)  # noqa: S311
    return set(canonical[: round(params.held_out * len(canonical))])
