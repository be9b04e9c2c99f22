"""Readers of the logs of load balancers, proxies and object stores: AWS, HAProxy, Envoy, Squid.

`docs/formats.md` names the lines with which each reader was checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from scrapy_dust.crawl_log.log_formats import Matcher, known_matcher

Said = dict[str, str]

_ALB = (
    '<:protocol> <time:iso> <> <> <> <> <> <> <status> <> <> <size> "<request>"'
    ' "<>" <> <> <> "<>" "<>" "<>" <> <> "<>" "<redirect_to>"'
)
_ELB = '<time:iso> <> <> <> <> <> <> <status> <> <> <size> "<request>"'
_S3 = '<> <> [<time>] <> <> <> <:operation> <> "<request>" <status> <> <size>'
#: The host and TLS came in 2019.
_S3_OF_TODAY = _S3 + ' <> <> <> "<>" "<>" <> <> <> <> <> <host> <tls>'
#: What syslog writes may stand before it.
_HAPROXY = "<:any> [<time>] <frontend> <> <:counters> <status> <size:so far> <> <> <> <:counters> <:counters>"
_ENVOY_ENDS = '<> <size> <> <> "<>" "<>" "<>" "<host>" "<>"'
#: ``logformat squid``, as Squid's configuration file documents the format.
_SQUID = "<time> <:padded number> <> <answered_by:words in capitals>/<status> <size> <method> <target> <> <> <content_type>"


@dataclass(frozen=True, slots=True)
class Lines:
    """A reader of the lines of one program, which has several formats, or whose format has grown."""

    matchers: tuple[Matcher, ...]  #: the first that matches counts
    meant: Callable[[Said], Said] = lambda said: said

    def match(self, line: str) -> Said | None:
        """The fields of *line*; None if no format of the program fits."""
        found = next((said for one in self.matchers if (said := one.match(line)) is not None), None)
        return None if found is None else self.meant(found)


def _fields_of_s3(said: Said) -> Said:
    """The fields of a line of Amazon S3, with the scheme if the request used TLS."""
    if said.get("tls", "-") != "-":
        said["scheme"] = "https"
    return said


#: A number alone is a client's address; with a port it is a server's.
_HOST_LIKE = re.compile(r"(?:[\w-]++\.)++[A-Za-z][\w-]*+(?::\d++)?|localhost(?::\d++)?|[\d.]++:\d++")
_HASHED = re.compile(r"#([0-9A-F]{2})")


def _fields_of_haproxy(said: Said) -> Said:
    """The fields of a HAProxy line. A frontend with ``~`` speaks TLS. Captured headers have no names, so
    their values tell.

    A request's that reads like a host is its ``Host``; a redirect's that is a URL is its ``Location``.
    """
    if said["frontend"].endswith("~"):
        said["scheme"] = "https"
    if said["size"].startswith("+"):
        said["size"] = "-"  # With `option logasap` the line is written before the answer has ended.
    said["request"] = _HASHED.sub(lambda found: _byte_as_character(int(found[1], 16)), said["request"])
    host = said.pop("asked", "").partition("|")[0]
    if _HOST_LIKE.fullmatch(host):
        said["host"] = host
    if said["status"].startswith("3"):
        urls = (
            one for one in said.get("answered", "").split("|") if one.startswith(("http://", "https://", "/"))
        )
        said["redirect_to"] = next(urls, "-")
    return said


def _byte_as_character(code: int) -> str:
    """The byte *code* as a character. Surrogates stand for bytes above 127, as in the results of `unescaped`."""
    return chr(code) if code < 0x80 else chr(0xDC00 + code)


_NOT_OF_THE_SITE = re.compile("DENIED|(?:NONE|ABORTED|TIMEDOUT)$")


def _fields_of_squid(said: Said) -> Said:
    """The fields of a Squid line, with no status where the line does not say what the site has at the URL.

    Squid itself answered, or the request was broken off, or the URL has lost its query, of which
    ``strip_query_terms on``, Squid's default, leaves the question mark.
    """
    if _NOT_OF_THE_SITE.search(said["answered_by"]) or said["target"].endswith("?"):
        said["status"] = "-"
    return said


PROXIES: Mapping[str, Lines] = {
    "alb": Lines((known_matcher(_ALB), known_matcher(_ALB.partition(' "<>"')[0]))),
    "elb": Lines((known_matcher(_ELB),)),
    "s3": Lines((known_matcher(_S3_OF_TODAY), known_matcher(_S3)), _fields_of_s3),
    "haproxy": Lines(
        tuple(
            known_matcher(f'{_HAPROXY}{captures} "<request>"')
            for captures in (" {<asked>} {<answered>}", " {<asked>}", "")
        ),
        _fields_of_haproxy,
    ),
    "envoy": Lines(
        tuple(
            known_matcher(f'[<time:iso>] "<request>" <status> {flags} {_ENVOY_ENDS}')
            for flags in ("<>", '<> "<>"', '<> <> <> "<>"')
        )
    ),
    "squid": Lines((known_matcher(_SQUID),), _fields_of_squid),
}
