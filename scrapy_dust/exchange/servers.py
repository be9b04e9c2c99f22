"""Writes rules for the servers of a site's owner: nginx and Apache.

Both compute the key of a request in steps, one rule each. What is done with it is for the owner to choose: a cache
key, or a redirect. A redirect must lead to a page: rules whose URLs a validation saw fail are left out of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from scrapy_dust.exchange.expressions import Expression, Piece, expressions_of
from scrapy_dust.exchange.headings import heading
from scrapy_dust.exchange.transfer import Entries, Exported, Unsaid, each_rule
from scrapy_dust.rule_book.entries import Entry

#: A parameter that stands there twice takes two steps.
_ROUNDS = 2

_NGINX = """\
# In http {{}}, {site}: $dust_{name} is the same for all URLs of one page.
#   as a cache key:  proxy_cache_key $dust_{name};
#   as a redirect:   if ($dust_{name} != $dust_{name}_url) {{ return 301 $dust_{name}; }}
map $host $dust_{name}_url {{ default "$scheme://$http_host$request_uri"; }}"""

_APACHE = """\
# In the <VirtualHost> of {site}: redirects every URL of one page to the same.
RewriteEngine On
RewriteCond %{{REQUEST_METHOD}} ^(?:GET|HEAD)$
RewriteCond %{{THE_REQUEST}} "^\\S+ (/\\S*)"
RewriteRule ^ "-" [E=DUST_URL:%{{REQUEST_SCHEME}}://%{{HTTP_HOST}}%1,E=DUST_FROM:%{{REQUEST_SCHEME}}://%{{HTTP_HOST}}%1]"""

# The ? stands there itself: Apache refuses one that comes out of a variable, and without one it keeps the old query.
_APACHE_END = """\
RewriteCond expr "%{reqenv:DUST_URL} != %{reqenv:DUST_FROM}"
RewriteCond %{ENV:DUST_URL} "^([^?]*)[?](.*)$"
RewriteRule ^ "%1?%2" [R=301,NE,L]
RewriteCond expr "%{reqenv:DUST_URL} != %{reqenv:DUST_FROM}"
RewriteCond %{ENV:DUST_URL} "^([^?]+)$"
RewriteRule ^ "%1?" [R=301,NE,L]
"""


def nginx(entries: Entries) -> Exported:
    """Maps for nginx that compute the key of a request."""
    unsaid: list[Unsaid] = []
    lines: list[str] = []
    for place, site in enumerate(sorted(entries)):
        found = _usable_expressions(site, {site: entries[site]}, unsaid, _nginx_cannot)
        if not found:
            continue
        name = re.sub(r"[^A-Za-z0-9]", "_", site) + f"_{place}"  # two sites may differ in a hyphen
        lines += [heading(site), _NGINX.format(site=site, name=name)]
        steps = [one for _ in range(_ROUNDS) for one in found]
        for number, one in enumerate(steps, start=1):
            before = f"$dust_{name}_{number - 1}" if number > 1 else f"$dust_{name}_url"
            after = f"$dust_{name}_{number}" if number < len(steps) else f"$dust_{name}"
            value = "".join(f"${piece}" if isinstance(piece, int) else piece for piece in one.replacement)
            lines.append(
                f'map {before} {after} {{ default {before}; "~{_in_quotes(one.pattern)}" "{_in_quotes(value)}"; }}'
            )
        lines.append("")
    return Exported("\n".join(lines), tuple(unsaid))


def apache(entries: Entries) -> Exported:
    """Rewrite rules for Apache that redirect each URL to its key."""
    unsaid: list[Unsaid] = []
    lines: list[str] = []
    for site in sorted(entries):
        found = _usable_expressions(site, {site: entries[site]}, unsaid, _apache_cannot)
        if not found:
            continue
        lines += [heading(site), _APACHE.format(site=site)]
        for one in [one for _ in range(_ROUNDS) for one in found]:
            value = "".join(
                f"%{piece}" if isinstance(piece, int) else re.sub(r"([\\%$])", r"\\\1", piece)
                for piece in one.replacement
            )
            lines.append(f'RewriteCond %{{ENV:DUST_URL}} "{one.pattern}"')
            lines.append(f'RewriteRule ^ "-" [E=DUST_URL:{value}]')
        lines.append(_APACHE_END)
    return Exported("\n".join(lines), tuple(unsaid))


def _usable_expressions(
    site: str, entries: Entries, unsaid: list[Unsaid], cannot: Callable[[Expression], str]
) -> list[Expression]:
    """The expressions that the server can use, in the order of their rules; the other rules go to *unsaid*. *cannot*:
    gives the reason why the server cannot use an expression, or an empty text.
    """
    found: list[Expression] = []
    for _, entry in each_rule(entries):
        made = expressions_of(site, entry.rule)
        why = made if isinstance(made, str) else _why_not(entry, made, cannot)
        if why or isinstance(made, str):
            unsaid.append(Unsaid(f"{site}: {entry.rule}", why))
        else:
            found += map(_with_rest, made)
    return found


def _with_rest(one: Expression) -> Expression:
    """An expression that takes along the rest of the URL: a server makes a new text, and replaces no part of one."""
    return Expression(f"{one.pattern}(.*)$", (*one.replacement, 2 if 1 in one.replacement else 1))


def _why_not(entry: Entry, made: tuple[Expression, ...], cannot: Callable[[Expression], str]) -> str:
    """The reason why a server must not apply a rule as the expressions *made*; empty where it may."""
    if entry.evidence.unanswered:
        return "a URL that it leads to did not answer, so nobody may be sent there"
    return next((why for one in made if (why := cannot(one))), "")


def _texts(replacement: tuple[Piece, ...]) -> str:
    """The literal texts of a *replacement*, joined."""
    return "".join(piece for piece in replacement if isinstance(piece, str))


def _nginx_cannot(one: Expression) -> str:
    """The reason why nginx cannot use the expression; empty where it can."""
    if _is_unprintable(one):
        return "nginx has no such character in a map"
    return "nginx knows no $ but as a variable's" if "$" in _texts(one.replacement) else ""


def _apache_cannot(one: Expression) -> str:
    """The reason why Apache cannot use the expression; empty where it can."""
    if _is_unprintable(one) or '"' in one.pattern or re.search(r'[,"\s\]]', _texts(one.replacement)):
        return "Apache's RewriteRule has no such character in a flag"
    return "Apache reads ${ as a name" if "${" in one.pattern else ""


def _is_unprintable(one: Expression) -> bool:
    """Whether the expression has a character that cannot be printed."""
    return any(not char.isprintable() for char in one.pattern + _texts(one.replacement))


def _in_quotes(text: str) -> str:
    """*text* as nginx reads it between double quotes."""
    # nginx takes the backslash away from these alone, and leaves \. as it is.
    return re.sub(r'\\(?=[\\"\'trn])|(?=")', lambda match: "\\" + match[0], text)
