"""Operations on spellings of one URL: percent-codes, case, scheme, host, fragment."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from scrapy_dust.rules.operation import Operation, operation
from scrapy_dust.url.parts import Parts

_ENCODED = re.compile(r"%([0-9A-Fa-f]{2})")
#: Characters that mean something else in a URL if they are not encoded.
_RESERVED = frozenset("%#?&=+;/ ")


def decode_text(text: str) -> str:
    """*text* with unneeded percent-codes undone and needed ones in upper case."""

    def decoded(match: re.Match[str]) -> str:
        """The character of a percent-code that is not needed, else the code in upper case."""
        character = chr(unquote_to_bytes(match[0])[0])
        if character == " ":
            return "%20"
        return character if "!" <= character <= "~" and character not in _RESERVED else match[0].upper()

    return _ENCODED.sub(decoded, text)


@operation
@dataclass(frozen=True, slots=True)
class Decode(Operation):
    """Percent-codes that need not be are replaced by their characters."""

    do = "decode"
    rank = 0
    family = "decode"
    needle = "%"
    script = """(one, url) => {
      const decoded = (part) => part.replace(/%([0-9A-Fa-f]{2})/g, (code, digits) => {
        const c = String.fromCharCode(parseInt(digits, 16));
        if (c === " ") return "%20";
        return c >= "!" && c <= "~" && !"%#?&=+;/ ".includes(c) ? c : code.toUpperCase();
      });
      const blank = (part) => (part === null ? null : decoded(part).replaceAll("%20", "+"));
      const path = url.path.map((segment) => (segment.includes("%") ? decoded(segment) : segment));
      const query = url.query && url.query.map(([name, value, mark]) => (`${name}${value}`.includes("%")
        ? [blank(name), blank(value), mark] : [name, value, mark]));
      const changed = !same(path, url.path) || (query && !samePairs(query, url.query));
      return changed ? { ...url, path, query } : url;
    }"""

    def apply(self, url: Parts) -> Parts:
        path = tuple(map(decode_text, url.path)) if any("%" in segment for segment in url.path) else url.path
        query = url.query
        if query and any("%" in one.name or "%" in (one.value or "") for one in query):
            query = tuple(
                one._replace(
                    name=_decode_in_query(one.name),
                    value=None if one.value is None else _decode_in_query(one.value),
                )
                if "%" in f"{one.name}{one.value}"
                else one
                for one in query
            )
        return url if path == url.path and query == url.query else url._replace(path=path, query=query)

    def __str__(self) -> str:
        return "percent-codes that need not be → characters"


def _decode_in_query(text: str) -> str:
    """*text* of a query, decoded, with each space as ``+``."""
    return decode_text(text).replace("%20", "+")


@operation
@dataclass(frozen=True, slots=True)
class FoldCase(Operation):
    """The path is in lower case."""

    do = "fold case"
    rank = 1
    family = "case"
    script = """(one, url) => {
      const path = url.path.map((segment) => segment.toLowerCase());
      return same(path, url.path) ? url : { ...url, path };
    }"""

    def apply(self, url: Parts) -> Parts:
        path = tuple(segment.lower() for segment in url.path)
        return url if path == url.path else url._replace(path=path)

    def __str__(self) -> str:
        return "path → in lower case"


@operation
@dataclass(frozen=True, slots=True)
class OneScheme(Operation):
    """The scheme ``https`` is replaced by ``http``."""

    do = "one scheme"
    rank = 2
    family = "scheme"
    needle = "https:"
    script = """(one, url) => (url.scheme === "https" ? { ...url, scheme: "http" } : url)"""

    def apply(self, url: Parts) -> Parts:
        return url._replace(scheme="http") if url.scheme == "https" else url

    def __str__(self) -> str:
        return "https: → http:"


@operation
@dataclass(frozen=True, slots=True)
class PlainHost(Operation):
    """The host is in lower case, without the port that the scheme implies."""

    do = "plain host"
    rank = 2
    family = "host spelling"
    script = """(one, url) => {
      if (url.host === null) return url;
      let host = url.host.includes("@") ? url.host : url.host.toLowerCase();
      const port = { http: ":80", https: ":443" }[url.scheme];
      if (port && host.endsWith(port)) host = host.slice(0, -port.length);
      return host === url.host ? url : { ...url, host };
    }"""

    def apply(self, url: Parts) -> Parts:
        if url.host is None:
            return url
        host = url.host.lower() if "@" not in url.host else url.host
        host = host.removesuffix({"http": ":80", "https": ":443"}.get(url.scheme or "", "\0"))
        return url if host == url.host else url._replace(host=host)

    def __str__(self) -> str:
        return "host → in lower case, without its default port"


@operation
@dataclass(frozen=True, slots=True)
class DropWww(Operation):
    """A leading ``www.`` of the host is left out."""

    do = "drop www"
    rank = 2
    family = "www"
    needle = "//www."
    script = """(one, url) => (url.host !== null && url.host.startsWith("www.") && !url.host.includes("@")
      && url.host.split(".").length > 2 ? { ...url, host: url.host.slice(4) } : url)"""

    def apply(self, url: Parts) -> Parts:
        # A user may be called "www.".
        if url.host is None or not url.host.startswith("www.") or url.host.count(".") < 2 or "@" in url.host:
            return url
        return url._replace(host=url.host[4:])

    def __str__(self) -> str:
        return "//www. → //"


@operation
@dataclass(frozen=True, slots=True)
class MapHost(Operation):
    """A host is replaced by another one."""

    alias: str
    host: str
    do = "map host"
    rank = 3
    family = "host alias"
    of_whole_words = True
    script = "(one, url) => (url.host === one.alias ? { ...url, host: one.host } : url)"

    @property
    def needle(self) -> str:
        """The host name that is replaced."""
        return self.alias

    def apply(self, url: Parts) -> Parts:
        return url._replace(host=self.host) if url.host == self.alias else url

    def check_fields(self) -> None:
        self.check_differ("alias", "host")

    def __str__(self) -> str:
        return f"//{self.alias} → //{self.host}"


@operation
@dataclass(frozen=True, slots=True)
class DropFragment(Operation):
    """The fragment, which follows ``#``, is left out."""

    do = "drop fragment"
    rank = 13
    family = "fragment"
    needle = "#"
    script = "(one, url) => (url.fragment === null ? url : { ...url, fragment: null })"

    def apply(self, url: Parts) -> Parts:
        return url if url.fragment is None else url._replace(fragment=None)

    def __str__(self) -> str:
        return "#… → (left out)"
