"""The items and requests that a spider took from a page, as units: a value for each field, and where requests lead.

The place of a field is named by the item's class and the field, `data item Product price`; that of a request by its
callback, `link request parse_product`. The values of each item, and the data passed on with each request, form a
group, so that two items with swapped prices differ. Values that repeat the page's own URL are left out. Any other URL
in an item counts like a link: by the page that the log has at its end.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from urllib.parse import urljoin

from xxhash import xxh3_64_intdigest

from scrapy_dust.page.own import OwnUrl, decoded
from scrapy_dust.page.places import Kind, name_of, place_of, url_value
from scrapy_dust.page.values import value_of

#: Values that are taken apart of one item; what is nested deeper, or comes later, is one value.
_VALUES, _DEPTH = 10_000, 20
_LONGEST_URL = 4000
_OWN = "\0own\0"


class Taken:
    """Collects what a callback yields for the page at *url*. *fields*: if not empty, only these fields of items count."""

    def __init__(self, url: str, fields: Collection[str] = ()) -> None:
        self.url, self._fields = url, frozenset(fields)
        own = OwnUrl(url)
        self._addresses = own.addresses
        #: Longer ones first; a path alone may stand in a text by chance.
        self._inside = sorted((said for said in own.addresses if "?" in said or ":" in said), key=len)[::-1]
        self._units: dict[int, None] = {}
        self._groups: Counter[int] = Counter()
        self.names: dict[int, str] = {}  #: of places
        self.links: dict[int, str] = {}  #: what links lead to, by their units

    @property
    def units(self) -> list[int]:
        """The units of what was collected: each is a place times 2**32 plus 32 bits of a value."""
        return list(self._units)

    def add_item(self, of_class: str, values: Mapping[str, object]) -> None:
        """Add an item of the class *of_class* with these *values*."""
        chosen = {name: values[name] for name in values if not self._fields or name in self._fields}
        self._add_together(f"item {of_class}", chosen)

    def add_request(
        self, callback: str, url: str, data: Mapping[str, object], sent: bytes | None = None
    ) -> None:
        """Add a request that the callback made to *url*. *data*: what the request passes on to its *callback*. *sent*:
        method and body if it is no plain GET.
        """
        path = f"request {callback}"
        if sent is None:
            self._add_link(path, url)
        else:
            self._add(Kind.DATA, f"{path} body", value_of(f"{url} {sent.hex()}"))
        self._add_together(path, data)

    def _add_together(self, path: str, values: Mapping[str, object]) -> None:
        """Add *values*, which belong to one item or request, and their group."""
        said = []
        for inner, value in leaves(values):
            one = self._add_value(f"{path} {inner}", value)
            if one is not None:
                said.append(f"{inner}\0{one}")
        if said:
            whole = "\n".join(said)
            group = xxh3_64_intdigest(whole.encode("utf-8", "surrogatepass"))
            self._groups[group] += 1
            self._add(Kind.GROUP, path, group + self._groups[group] & 0xFFFFFFFF)

    def _add_value(self, path: str, value: object) -> str | None:
        """Add one *value* of an item or request at *path*. Returns its text, for the group it belongs to; None if it
        repeats the page's own URL, or is a link.
        """
        said = value if isinstance(value, str) else _json(value)
        if isinstance(value, str):
            said = self._without_own(said)
            if _is_url(value):
                if _OWN not in said:
                    self._add_link(path, urljoin(self.url, value.strip()))
                return None
            if said == _OWN:
                return None
        self._add(Kind.DATA, path, value_of(said))
        return said

    def _without_own(self, said: str) -> str:
        """*said* with the page's own URL replaced by a sign."""
        whole = decoded(said.strip())
        if whole in self._addresses:
            return _OWN
        if not any(address in whole for address in self._inside):
            return said
        for address in self._inside:
            whole = whole.replace(address, _OWN)
        return whole

    def _add_link(self, path: str, url: str) -> None:
        self.links[self._add(Kind.LINK, path, url_value(url))] = url

    def _add(self, kind: Kind, path: str, value: int) -> int:
        """Add a unit, and name its place."""
        place = place_of(kind, path)
        self.names[place] = name_of(kind, path)
        unit = place << 32 | value
        self._units[unit] = None
        return unit


def _is_url(value: str) -> bool:
    said = value.strip()
    is_absolute = said[:8].lower().startswith(("http://", "https://")) or said.startswith("//")
    return is_absolute and len(said) <= _LONGEST_URL and len(said.split()) == 1


def leaves(values: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Each plain value in *values*, however deep, with the names that lead to it; positions in lists do not count."""
    waiting: list[tuple[str, object, int]] = [
        (str(name), values[name], 0) for name in sorted(values, key=str)
    ][::-1]
    count = 0
    while waiting:
        path, value, depth = waiting.pop()
        if value is None or (isinstance(value, str) and not value):
            continue
        count += 1
        inner = _parts(path, value) if depth < _DEPTH and count < _VALUES else None
        if inner is None:
            yield path, value
        else:
            waiting += [(name, one, depth + 1) for name, one in inner][::-1]


def _parts(path: str, value: object) -> list[tuple[str, object]] | None:
    """The values in *value*, each with its path; None if it is a plain value."""
    if isinstance(value, Mapping):
        return sorted(((f"{path}.{name}", one) for name, one in value.items()), key=lambda part: part[0])
    if isinstance(value, (set, frozenset)):
        return [(path, one) for one in sorted(value, key=repr)]
    return [(path, one) for one in value] if isinstance(value, (list, tuple)) else None


def _json(value: object) -> str:
    """The text that stands for a *value* which JSON cannot express."""
    try:
        return json.dumps(value, sort_keys=True, default=repr)
    except (TypeError, ValueError, RecursionError):
        return repr(value)
