"""Makes matchers of lines from the format strings of Apache's ``LogFormat`` and nginx's ``log_format``.

A format becomes one pattern in which no part can be tried twice: each field ends at the first occurrence of
the text that follows it in the format. So a line is matched, or not, in time linear in its length, whatever
the format and whatever the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

_APACHE = {
    "r": "request",
    "m": "method",
    "U": "path",
    "q": "query",
    "s": "status",
    "b": "size",
    "B": "size",
    "O": "size",
    "v": "host",
    "V": "host",
    "p": "port",
    "t": "time",
    "{host}i": "host",
    "{x-forwarded-host}i": "host",
    "{x-forwarded-proto}i": "scheme",
    "{request_scheme}e": "scheme",
    "{request_scheme}x": "scheme",
    "{location}o": "redirect_to",
    "{content-type}o": "content_type",
    "{a host's name}x": "host",
}
_NGINX = {
    "request": "request",
    "request_method": "method",
    "request_uri": "target",
    "uri": "path",
    "document_uri": "path",
    "args": "query",
    "query_string": "query",
    "status": "status",
    "body_bytes_sent": "size",
    "bytes_sent": "size",
    "host": "host",
    "http_host": "host",
    "server_name": "host",
    "server_port": "port",
    "scheme": "scheme",
    "time_local": "time",
    "time_iso8601": "time",
    "msec": "time",
    "sent_http_location": "redirect_to",
    "sent_http_content_type": "content_type",
}
#: Where several say the same thing, the earlier is taken: how a request ended before what it was before an
#: internal redirect, bytes of the body before those with headers, the host asked for before the server's name.
_BETTER = ">s b B $body_bytes_sent O $bytes_sent {host}i $http_host $host V v $server_name".split()
#: A host behind the line: with a dot and a letter in its last label, so that neither addresses, durations nor
#: flags are taken for one.
_NAME = "a host's name"
_NAME_LIKE = r"(?:[\w-]++\.)++[A-Za-z][\w-]*+(?::\d++)?"
_TYPED = {
    "status": r"\d{3}|-1?",
    "size": r"\d++|-",
    "port": r"\d++|-",
}
#: By what a format calls them, whatever stands around them.
_KEYED = {
    f"{{{_NAME}}}x": _NAME_LIKE,
    "t": r"\[[^\]]*+\]",
    "h": r"(?!- )[^ ]++",
    "so far": r"\+?\d++|-",
    "counters": r"[-+\d]++(?:/[-+\d]++)++",
    "iso": r"\d{4}-\d\d-\d\dT[\d:.]++Z?",
    "operation": r"[A-Z\d]++(?:\.[A-Z\d_]++)++",
    "padded number": r" *+-?\d++",
    "words in capitals": r"[A-Z]++(?:_[A-Z]++)*+",
    "protocol": r"https?|h2|grpcs|wss?",
    "any": r".*?",
}
_DIRECTIVE = re.compile(r"%[!<>\d,]*(?:(\{[^}]*\})?(\^[A-Za-z]{2}|[A-Za-z])|(%))")
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
#: Of formats that are known here: ``<status>`` is a field, ``<>`` one that nobody asks for, and ``<time:iso>`` one of
#: which the kind of value is known.
_NAMED = re.compile(r"<(\w*)(?::([\w ]+))?>")
_REQUEST = r"-|[^ ]++ [^ ]++(?: HTTP/[\d.]++)?"


@dataclass(frozen=True, slots=True)
class _Field:
    """A field of a log format, such as ``%h`` or ``$request``."""

    name: str | None  #: None: what nobody asks for
    key: str  #: as the format has it; a variable of nginx begins with $


class Matcher:
    """A matcher of lines of one format."""

    def __init__(self, parts: Sequence[str | _Field], *, open_end: bool = False) -> None:
        names: list[str] = []
        end = "(?: .*+)?" if open_end else ""
        self._pieces_of_pattern = re.compile("".join(_pieces_of_pattern(parts, names)) + end, re.DOTALL)
        self._names = names

    def match(self, line: str) -> dict[str, str] | None:
        """The fields of *line*; None if it does not fit."""
        found = self._pieces_of_pattern.fullmatch(line)
        return None if found is None else dict(zip(self._names, found.groups(), strict=True))


@lru_cache(maxsize=64)
def matcher_of(log_format: str) -> Matcher:
    """The matcher of a format string of Apache (``%h … "%r"``) or of nginx (``$remote_addr … "$request"``).

    Raises `ValueError` for one that says nothing of requests, or whose fields cannot be told apart.
    """
    # As the configuration file has it, quotes and tabs are escaped.
    text = log_format.strip().replace('\\"', '"').replace("\\t", "\t")
    parts = list(_split(text, _DIRECTIVE if "%" in text else _VARIABLE))
    names = {part.name for part in parts if isinstance(part, _Field)}
    if not names & {"request", "target", "path"}:
        raise ValueError(
            f"the log format {log_format!r} has no request in it. "
            "Give the string after LogFormat or log_format, with %r or $request."
        )
    parts = list(_join_parts(parts))
    for one, next_ in pairwise(parts):
        if isinstance(one, _Field) and isinstance(next_, _Field):
            raise ValueError(
                f"in the log format {log_format!r} nothing stands between {one.key} and {next_.key}, "
                "so that they cannot be told apart. Put a space between them."
            )
    return Matcher(_each_name_once(parts))


def _split(text: str, field: re.Pattern[str]) -> Iterator[str | _Field]:
    """The parts of a format string *text*: literal texts and fields, in turn."""
    at = 0
    for found in field.finditer(text):
        if found.start() > at:
            yield text[at : found.start()]
        at = found.end()
        if field is _NAMED:
            yield _Field(found[1] or None, found[2] or f"<{found[1]}>")
        elif field is _VARIABLE:
            key = found[1] or found[2]
            yield _Field("glue" if key == "is_args" else _NGINX.get(key), f"${key}")
        elif found[3]:
            yield "%"
        else:
            key = (found[1] or "").lower() + found[2]
            name = "time" if found[2] == "t" else _APACHE.get(key)
            yield _Field(name, ">s" if key == "s" and ">" in found[0] else key)
    if at < len(text):
        yield text[at:]


def _join_parts(parts: Sequence[str | _Field]) -> Iterator[str | _Field]:
    """*parts* with neighbouring literal texts as one, and with a path and the query behind it as one field."""
    before: str | _Field | None = None
    for part in parts:
        if before is None:
            before = part
        elif isinstance(before, str) and isinstance(part, str):
            before += part
        elif (
            isinstance(before, _Field)
            and isinstance(part, _Field)
            and before.name in ("path", "target")
            and (part.name in ("query", "glue"))
        ):
            before = _Field("target", before.key)
        else:
            yield before
            before = part
    if before is not None:
        yield before


def _each_name_once(parts: Sequence[str | _Field]) -> list[str | _Field]:
    """*parts* in which each name stands once, at the field that says it best."""
    best: dict[str, int] = {}
    for place, part in enumerate(parts):
        if isinstance(part, _Field) and part.name:
            rival = best.get(part.name)
            if rival is None or _rank(part) < _rank(parts[rival]):
                best[part.name] = place
    return [
        _Field(None, part.key)
        if isinstance(part, _Field) and part.name and best[part.name] != place
        else part
        for place, part in enumerate(parts)
    ]


def _rank(part: str | _Field) -> int:
    """The rank of *part* among fields of one name: the lowest one says the value best."""
    key = part.key if isinstance(part, _Field) else ""
    return _BETTER.index(key) if key in _BETTER else len(_BETTER)


def _pieces_of_pattern(parts: Sequence[str | _Field], names: list[str]) -> Iterator[str]:
    """The pieces of the regular expression for a line. The names of its groups are added to *names*."""
    for place, part in enumerate(parts):
        before = parts[place - 1] if place else ""
        after = parts[place + 1] if place + 1 < len(parts) else ""
        if isinstance(part, str):
            # What follows a field is matched with it.
            if not isinstance(before, _Field):
                yield re.escape(part)
            continue
        assert isinstance(before, str)
        assert isinstance(after, str)
        value = _value_pattern(part, before, after, parts[place + 2 : place + 3])
        if part.name in (None, "glue"):
            yield f"(?>(?:{value}){re.escape(after)})"
        else:
            names.append(str(part.name))
            bracketed = part.name == "time" and value.startswith("\\[")
            inner = r"\[([^\]]*+)\]" if bracketed else f"({value})"
            yield f"(?>{inner}{re.escape(after)})"


def _value_pattern(field: _Field, before: str, after: str, then: Sequence[str | _Field]) -> str:
    """The regular expression for the values of *field*, by its name and the texts before and after."""
    if field.key in _KEYED:
        return _KEYED[field.key]
    if field.key == "u" and after == " " and then and isinstance(then[0], _Field) and then[0].key == "t":
        # Names may have spaces in them.
        return r"(?:(?! \[).)*+"
    if before.endswith('"') and after.startswith('"'):
        return _quoted_pattern(after[1:], then)
    if field.name == "request":
        return _REQUEST
    if field.name == "host":
        ends = r'\s"' + re.escape(after[:1])
        return rf"\[[0-9A-Fa-f:.]++\](?::\d++)?|[^\[\]:{ends}]++(?::\d++(?=[{ends}]|$))?|"
    if field.name in _TYPED:
        return _TYPED[field.name]
    if field.key.startswith("<"):
        return {"[": r"[^\]]*+", "{": "[^{}]*+"}.get(before[-1:], "[^ ]++")
    return ".*?" if after else ".*+"


def _quoted_pattern(after: str, then: Sequence[str | _Field]) -> str:
    """A pattern for text between quotes, up to the first quote that is not escaped.

    Traefik and S3 do not escape the quotes that clients send.
    """
    if not after:
        return r'(?:[^"\\]|\\.)*+'
    next_ = then[0].name if then and isinstance(then[0], _Field) else None
    kind = f"(?:{_TYPED[next_]})" if next_ in _TYPED else ""
    return rf'(?:[^"\\]|\\.|"(?!{re.escape(after)}{kind}))*+'


def known_matcher(log_format: str) -> Matcher:
    """The matcher of a well-known format, in Apache's words or with ``<name>`` for each field.

    What stands behind its last field is not needed, so it may be anything.
    """
    field = _DIRECTIVE if "%" in log_format else _NAMED
    return Matcher(list(_join_parts(list(_split(log_format, field)))), open_end=True)


_COMMON = '%h %l %u %t "%r" %>s %b'
_COMBINED = _COMMON + ' "%{Referer}i" "%{User-agent}i"'
#: Common and Combined, and their usual variants. Of two that read as many lines the earlier is meant.
#: What stands behind the size is not needed, unless it is the host.
KNOWN = tuple(
    map(
        known_matcher,
        (
            f"%v:%p {_COMMON}",
            f"%v {_COMMON}",
            f"{_COMBINED} %{{{_NAME}}}x",
            f'{_COMBINED} "%{{{_NAME}}}x"',
            f"{_COMMON} %{{{_NAME}}}x",
            _COMMON,
        ),
    )
)
