"""Reads URLs as maps with deep tokens, as in WSDM'10: a component of a URL may be split into parts.

A path segment is named by its place from the start, the last two by their place from the end, so that one more
segment between them renames neither. If most values of a component split into parts at the same delimiters, and one
of the parts is mostly the same, the parts become components of their own.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from scrapy_dust.learners.url_components import Components, components_of, url_of

_DELIMITER = re.compile(r"[._~:,+-]")
#: Share of a component's values with the same delimiters, and of different texts in a constant part.
_SAME, _CONSTANT = 0.6, 0.2
_LEAST = 5  #: different values of a component that is taken apart
_FROM_END = 2


@dataclass(frozen=True, slots=True)
class DeepTokens:
    """The delimiters by which each component of a site's URLs is split into parts."""

    delimiters: Mapping[str, str] = field(default_factory=dict)

    def keys(self, url: str) -> dict[str, str]:
        """*url* as a map from components to values."""
        found: dict[str, str] = {}
        for key, value in _named_from_both_ends(components_of(url)).items():
            delimiters = self.delimiters.get(key)
            if delimiters and "".join(_DELIMITER.findall(value)) == delimiters:
                found |= {f"{key} {place}": piece for place, piece in enumerate(_DELIMITER.split(value))}
            else:
                found[key] = value
        return found

    def url(self, keys: Components) -> str:
        """The URL with these components."""
        whole: dict[str, str] = {}
        pieces: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for key, value in keys.items():
            name, space, place = key.rpartition(" ")
            if space and name in self.delimiters and place.isdecimal():
                pieces[name].append((int(place), value))
            else:
                whole[key] = value
        for name, parts in pieces.items():
            text = "".join(self.delimiters[name][place - 1 : place] + value for place, value in sorted(parts))
            whole.setdefault(name, text)
        return url_of(_named_from_start(whole))


def deep_tokens(urls: Iterable[str]) -> DeepTokens:
    """The delimiters that split the components of *urls* into parts."""
    values: dict[str, set[str]] = defaultdict(set)
    for url in urls:
        for key, value in _named_from_both_ends(components_of(url)).items():
            if key not in ("scheme", "host", "fragment"):
                values[key].add(value)
    found = {key: _common_delimiters(texts) for key, texts in values.items() if len(texts) >= _LEAST}
    return DeepTokens({key: delimiters for key, delimiters in found.items() if delimiters})


def _common_delimiters(values: set[str]) -> str:
    """The delimiters that most values have; none where the parts of the values have nothing in common."""
    counts = Counter("".join(_DELIMITER.findall(value)) for value in values)
    best = max(sorted(counts), key=counts.__getitem__)
    split = [_DELIMITER.split(value) for value in values if "".join(_DELIMITER.findall(value)) == best]
    columns = zip(*split, strict=True)
    if len(split) < _SAME * len(values) or not any(
        len(set(one)) <= _CONSTANT * len(split) for one in columns
    ):
        return ""
    return best


def _named_from_both_ends(keys: Components) -> dict[str, str]:
    """*keys* with the last path segments named by their place from the end, such as ``p-1``."""
    last = sum(map(_is_segment, keys))
    return {_name_from_end(key, last) if _is_segment(key) else key: value for key, value in keys.items()}


def _name_from_end(key: str, segments: int) -> str:
    """The name of the path segment *key* of so many *segments*: from the end if it is one of the last."""
    place = int(key[1:])
    return f"p-{segments - place}" if segments - place <= _FROM_END else key


def _named_from_start(keys: Components) -> dict[str, str]:
    """*keys* with all path segments named by their place from the start, such as ``p0``."""
    from_start = sorted(int(key[1:]) for key in keys if _is_segment(key))
    order = [f"p{place}" for place in from_start] + [f"p-{n}" for n in range(_FROM_END, 0, -1)]
    renamed = {key: f"p{place}" for place, key in enumerate(key for key in order if key in keys)}
    return {renamed.get(key, key): value for key, value in keys.items()}


def _is_segment(key: str) -> bool:
    return key[0] == "p" and key[1:].isdecimal()
