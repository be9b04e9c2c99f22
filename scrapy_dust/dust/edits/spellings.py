"""Other spellings of one URL: percent-codes, case, scheme, host, fragment."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from scrapy_dust.dust.edits.anatomy import Anatomy

_ENCODED = re.compile(r"%([0-9A-Fa-f]{2})")
#: What means something else when it stands there unencoded.
_RESERVED = frozenset("%#?&=+;/ ")


def decoded(text: str) -> str:
    """*text* with the percent-codes resolved that need not be, the others in upper case, a space as ``+``."""

    def resolve(match: re.Match[str]) -> str:
        character = chr(unquote_to_bytes(match[0])[0])
        if character == " ":
            return "%20"
        return character if "!" <= character <= "~" and character not in _RESERVED else match[0].upper()

    return _ENCODED.sub(resolve, text)


@dataclass(frozen=True, slots=True)
class Decode:
    """Percent-codes of characters that need none are those characters."""

    rank = 0
    family = "decode"
    needle = "%"

    def apply(self, url: Anatomy) -> Anatomy:
        path = tuple(map(decoded, url.path)) if any("%" in segment for segment in url.path) else url.path
        query = url.query
        if query and any("%" in name or "%" in (value or "") for name, value in query):
            query = tuple((_blank(decoded(n)), None if v is None else _blank(decoded(v))) for n, v in query)
        return url if path == url.path and query == url.query else url._replace(path=path, query=query)

    def __str__(self) -> str:
        return "percent-codes that need not be → characters"


def _blank(text: str) -> str:
    return text.replace("%20", "+")


@dataclass(frozen=True, slots=True)
class FoldCase:
    """Upper and lower case are the same: of the path, or of one of its segments."""

    rank = 1
    family = "case"
    needle = ""

    def apply(self, url: Anatomy) -> Anatomy:
        path = tuple(segment.lower() for segment in url.path)
        return url if path == url.path else url._replace(path=path)

    def __str__(self) -> str:
        return "path → in lower case"


@dataclass(frozen=True, slots=True)
class OneScheme:
    rank = 2
    family = "scheme"
    needle = "https:"

    def apply(self, url: Anatomy) -> Anatomy:
        return url._replace(scheme="http") if url.scheme == "https" else url

    def __str__(self) -> str:
        return "https: → http:"


@dataclass(frozen=True, slots=True)
class PlainHost:
    """The host in lower case, without the port that the scheme implies."""

    rank = 2
    family = "host spelling"
    needle = ""

    def apply(self, url: Anatomy) -> Anatomy:
        if url.host is None:
            return url
        host = url.host.lower() if "@" not in url.host else url.host
        host = host.removesuffix({"http": ":80", "https": ":443"}.get(url.scheme or "", "\0"))
        return url if host == url.host else url._replace(host=host)

    def __str__(self) -> str:
        return "host → in lower case, without its default port"


@dataclass(frozen=True, slots=True)
class DropWww:
    rank = 2
    family = "www"
    needle = "//www."

    def apply(self, url: Anatomy) -> Anatomy:
        if url.host is None or not url.host.startswith("www.") or url.host.count(".") < 2:
            return url
        return url._replace(host=url.host[4:])

    def __str__(self) -> str:
        return "//www. → //"


@dataclass(frozen=True, slots=True)
class MapHost:
    alias: str
    host: str
    rank = 3
    family = "host alias"

    @property
    def needle(self) -> str:
        return self.alias

    def apply(self, url: Anatomy) -> Anatomy:
        return url._replace(host=self.host) if url.host == self.alias else url

    def __str__(self) -> str:
        return f"//{self.alias} → //{self.host}"


@dataclass(frozen=True, slots=True)
class DropFragment:
    rank = 13
    family = "fragment"
    needle = "#"

    def apply(self, url: Anatomy) -> Anatomy:
        return url if url.fragment is None else url._replace(fragment=None)

    def __str__(self) -> str:
        return "#… → (left out)"
