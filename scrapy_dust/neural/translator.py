"""Makes keys of URLs by a trained network.

URLs that read the same are translated once: what the network sees of them is the same. A translation that names what
is not there, that the network is not sure of, or that leaves the site is none, and the URL stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable

from scrapy_dust.neural.decoding import Decoder, Translation
from scrapy_dust.neural.model import Model
from scrapy_dust.neural.network import best_device, new_network
from scrapy_dust.neural.plausible_urls import forms_of
from scrapy_dust.neural.training import load_weights
from scrapy_dust.neural.training_state import Pair
from scrapy_dust.neural.vocabulary import Reading
from scrapy_dust.sites import site_of

#: Readings whose translation is remembered.
_REMEMBERED = 100_000


class Translator:
    """Translates URLs by the network of a *model*."""

    def __init__(self, model: Model) -> None:
        network = new_network(model.vocabulary, model.params, best_device())
        load_weights(network, model.weights)
        forms = forms_of(model.forms) if model.params.plausible else None
        self._decoder = Decoder(network, model.vocabulary, model.params.beam, forms)
        self._vocabulary, self._params, self._site = model.vocabulary, model.params, model.site
        self._known: dict[tuple[int, ...], Translation | None] = {}

    def key(self, url: str) -> str:
        """The network's translation of *url*; *url* itself where the network is not sure."""
        return self.keys((url,))[url]

    def keys(self, urls: Iterable[str]) -> dict[str, str]:
        """The key of each URL; all are translated together."""
        found = {url: url for url in urls}
        readings = {url: self._vocabulary.encode(url) for url in found if site_of(url) == self._site}
        self._translate_new(reading for reading in readings.values() if reading is not None)
        for url, reading in readings.items():
            if reading is not None:
                found[url] = self._key_of_reading(url, reading)
        return found

    def scores(self, pairs: Iterable[Pair]) -> dict[str, float]:
        """The share of *pairs* that are translated right, and the share of which the network is sure enough."""
        wanted = list(pairs)
        said = self._decoder.translate([self._vocabulary.reading_of_ids(pair.ids) for pair in wanted])
        sure = [
            one if one is not None and one.probability >= self._params.confidence else None for one in said
        ]
        right = sum(
            one is not None and one.symbols == pair.symbols for one, pair in zip(sure, wanted, strict=True)
        )
        return {"right": right / len(wanted), "sure": sum(one is not None for one in sure) / len(wanted)}

    def _translate_new(self, readings: Iterable[Reading]) -> None:
        """Translate those of *readings* that are not remembered yet."""
        new = {reading.ids: reading for reading in readings if reading.ids not in self._known}
        if len(self._known) + len(new) > _REMEMBERED:
            self._known.clear()
        said = self._decoder.translate(list(new.values()))
        self._known.update(zip(new, said, strict=True))

    def _key_of_reading(self, url: str, reading: Reading) -> str:
        """The translation of *url* that is remembered for its *reading*; *url* itself where the network is not sure."""
        said = self._known[reading.ids]
        if said is None or said.probability < self._params.confidence:
            return url
        key = self._vocabulary.url_of(reading, said.symbols)
        return key if key is not None and site_of(key) == self._site else url
