"""Turns a rule of one site into regular expressions on a whole URL, in the syntax that Java, PCRE and Python share.

Each expression makes the change once, at the first place. A program must apply all expressions again and again, until
nothing changes, as the rule itself would be. All expressions begin with ``^`` and the site, so that none changes URLs
of another site.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from scrapy_dust.exchange.transfer import BY_AMPERSAND, name_left_out
from scrapy_dust.rules.parameters import DropParameter, SetParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute
from scrapy_dust.sites import site_of, site_of_host

Piece = str | int  #: a text, or the number of a group


class Expression(NamedTuple):
    """A regular expression and the text that replaces its match."""

    pattern: str
    replacement: tuple[Piece, ...]


_OTHER = "it is not one text in the place of another, everywhere"
_SPECIAL = frozenset("\\.^$|?*+()[]{}")
# A parameter's value, as `rules.parameters` reads it: a ; that no name= follows belongs to it.
_VALUE = "[^&;#]*(?:;(?![^&;=#]+=)[^&;#]*)*"
# Said so that no shorter value can stand before them.
_BETWEEN = "(?:&|;(?=[^&;=#]+=))"
_ENDS = "(?:[&#]|;[^&;=#]+=|$)"
_PATH_VALUE = "[^;/?#&]*"
#: No ; before a name=, in the path or in the query.
_NO_SEMICOLON = r"(?![^?#]*;[^;=&/?#]+=)(?![^?#]*\?[^#]*;[^&;=#]+=)"
_AFTER_HOST = ("/", "?", "#")
_BEFORE, _AFTER = "(?<![0-9A-Za-z])", "(?![0-9A-Za-z])"


def quoted(text: str) -> str:
    """An expression that matches *text* itself. `re.escape` escapes more than Java and PCRE need."""
    return "".join("\\" + char if char in _SPECIAL else char for char in text)


def url_of(site: str) -> str:
    """An expression for scheme and authority of the URLs of *site*."""
    below = r"(?:[^/?#@:]*\.)?" if site_of_host(f"x.{site}") == site else ""
    port = "(?::[0-9]+)?" if site_of_host(f"{site}:1") == site else ""
    return rf"(?i:https?://(?:[^/?#@]*@)?{below}{quoted(site)}\.?{port}(?=[/?#]|$))"


def expressions_of(site: str, rule: Rule) -> tuple[Expression, ...] | str:
    """Regular expressions that do the same as *rule* on URLs of *site*, or the reason why there are none."""
    name = name_left_out(rule)
    if name is not None:
        return (_between_ampersands if rule.guard else _leaving_out)(url_of(site), name)
    if rule.fixed_value_operation is not None:
        return _with_one_value(url_of(site), rule.fixed_value_operation)
    return _OTHER if rule.substitution is None else _expressions_of_substitution(site, rule.substitution)


def _leaving_out(url: str, name: str) -> tuple[Expression, ...]:
    """The expressions that leave the parameter *name* out of a URL that begins as *url* matches."""
    name = quoted(name)
    here = f"{name}(?:={_VALUE})?"
    return (
        Expression(rf"^({url}[^?#]*\?){here}{_BETWEEN}", (1,)),
        Expression(rf"^({url}[^?#]*)\?{here}(?=#|$)", (1,)),
        Expression(rf"^({url}[^?#]*\?[^#]*?)(?:[&;]{name}={_VALUE}|&{name}(?={_ENDS}))", (1,)),
        Expression(rf"^({url}[^?#]*?);{name}={_PATH_VALUE}", (1,)),
    )


def _with_one_value(url: str, rule: SetParameter) -> tuple[Expression, ...] | str:
    """The expressions that give a parameter of a URL its one value, or the reason why there are none."""
    name = quoted(rule.name)
    if re.search(r"[;/?&#]", rule.value):
        return "the value has a character that separates parameters"
    value = quoted(rule.value)
    return (
        Expression(rf"^({url}[^?#]*\?(?:[^#]*?[&;])?{name}=)(?!{value}{_ENDS}){_VALUE}", (1, rule.value)),
        Expression(rf"^({url}[^?#]*?;{name}=)(?!{value}(?:[;/?#&]|$)){_PATH_VALUE}", (1, rule.value)),
    )


def _between_ampersands(url: str, name: str) -> tuple[Expression, ...]:
    """The expressions that leave the parameter *name* out of a query in which only ``&`` separates parameters."""
    name = quoted(name)
    url = f"{url}{_NO_SEMICOLON}"
    return (
        Expression(rf"^({url}[^?#]*\?){name}(?:=[^&#]*)?&", (1,)),
        Expression(rf"^({url}[^?#]*)\?{name}(?:=[^&#]*)?(?=#|$)", (1,)),
        Expression(rf"^({url}[^?#]*\?[^#]*?)&{name}(?:=[^&#]*)?(?=[&#]|$)", (1,)),
    )


def _expressions_of_substitution(site: str, rule: Substitute) -> tuple[Expression, ...] | str:
    """The expressions for a substitution, or the reason why there are none."""
    alpha, beta, url = rule.alpha, rule.beta, url_of(site)
    if any(site_of(rule.in_text(start)) != site for start in _starts(site)):
        return "it would lead away from the site"
    if _may_never_end(rule):
        return "the replacement contains the replaced text, so it would never end"
    if alpha[:1] in _AFTER_HOST and beta[:1] in (":", "@", "."):
        return "it would change the host"
    head, tail = _ends_in_words(alpha, beta)
    if rule.start:
        end = "$" if rule.end else _AFTER if tail else ""
        return (Expression(f"^(?={url}){quoted(alpha)}{end}", (beta,)),)
    found = _alpha_expression(alpha, beta, head=head, tail=tail and not rule.end) + "$" * rule.end
    stays = f"^(?={url})" + _unless_beside_the_host(url, rule, found)
    return (Expression(f"{stays}({'.*' if rule.end else '.*?'}){found}", (1, beta)),)


def _alpha_expression(alpha: str, beta: str, *, head: bool, tail: bool) -> str:
    """The expression for α where a substitution replaces it: *head* and *tail* say at which of its ends a token must
    end.
    """
    text = quoted(alpha)
    if head or tail or (alpha and beta):
        return f"{_BEFORE if head else ''}{text}{_AFTER if tail else ''}"
    return f"(?:{_BEFORE}{text}|{text}{_AFTER})"  # what is left must not grow together


def _unless_beside_the_host(url: str, rule: Substitute, found: str) -> str:
    """A lookahead that keeps a replacement from leaving other text than / ? # beside the host; empty where it cannot."""
    if rule.alpha[:1] not in _AFTER_HOST or rule.beta[:1] in _AFTER_HOST:
        return ""
    return f"(?!{url}{found}{'' if rule.beta else '[^/?#]'})"


def _starts(site: str) -> Iterator[str]:
    """The beginnings that URLs of *site* can have: scheme and host, with a slash and without."""
    hosts = [site, f"www.{site}"] if site_of_host(f"www.{site}") == site else [site]
    for scheme in ("http", "https"):
        for host in hosts:
            yield f"{scheme}://{host}"
            yield f"{scheme}://{host}/"


def _ends_in_words(*sides: str) -> tuple[bool, bool]:
    """Whether any of *sides* begins, and whether any ends, with a letter or digit."""
    return any(map(_is_word_character, (side[:1] for side in sides))), any(
        map(_is_word_character, (side[-1:] for side in sides))
    )


def _is_word_character(char: str) -> bool:
    return char.isascii() and char.isalnum()


def _may_never_end(rule: Substitute) -> bool:
    """Whether replacing may go on without end, because β of the rule can contain its α again."""
    if rule.start and rule.end:
        return False
    if rule.start:
        return rule.beta.startswith(rule.alpha)
    if rule.end:
        return rule.beta.endswith(rule.alpha)
    return rule.alpha in rule.beta


# --- back -----------------------------------------------------------------------------------------------------

_SITE = re.compile(
    r"https\?://\(\?:\[\^/\?#@\]\*@\)\?(?:\(\?:\[\^/\?#@:\]\*\\\.\)\?)?((?:\\.|[^\\(?])+?)\\\.\?"
)
_NAME = re.compile(r"((?:\\.|[^\\&;=#()\[\]?|])+)(?:\(\?:)?=")


def rule_of(expression: Expression) -> tuple[str, Rule] | None:
    """The site and the rule from which `expressions_of` has made *expression*; None for an expression from elsewhere.

    A rule counts only if `expressions_of` makes the same expression of it again.
    """
    found = _SITE.search(expression.pattern)
    if found is None:
        return None
    site = _unquoted(found[1])
    try:
        for rule in _possible_rules(expression, site):
            written = expressions_of(site, rule)
            if not isinstance(written, str) and expression in written:
                return site, rule
    except ValueError:  # brackets that are no address
        return None
    return None


def _possible_rules(expression: Expression, site: str) -> list[Rule]:
    """The rules from which `expressions_of` may have made *expression*; one of them may be right."""
    pattern, replacement = expression
    url = url_of(site)
    value = replacement[1] if len(replacement) == 2 and isinstance(replacement[1], str) else ""
    ahead = f"^(?={url})"
    if not pattern.startswith(ahead):
        found = [_unquoted(match[1]) for match in _NAME.finditer(pattern.replace(url, ""))]
        names = [one for name in found for one in (name, name.removeprefix("?"))]
        kinds = [(DropParameter(name), SetParameter(name, value)) for name in names]
        between = [Rule.of(one, where=(BY_AMPERSAND,)) for one, _ in kinds]
        return [*(Rule.of(one) for both in kinds for one in both), *between]
    beta = "".join(piece for piece in replacement if isinstance(piece, str))
    _, groups, rest = pattern[len(ahead) :].rpartition("(.*")
    rest = rest.removeprefix("?)").removeprefix(")") if groups else rest
    ends = (True, False) if rest.endswith("$") else (False,)
    return [
        Rule.of(Substitute(_alpha_of(rest.removesuffix("$" * end)), beta, start=not groups, end=end))
        for end in ends
    ]


def _alpha_of(found: str) -> str:
    """The α of a substitution, from the expression that `_alpha_expression` made of it."""
    if found.startswith(f"(?:{_BEFORE}") and found.endswith(f"{_AFTER})"):
        both = found.removeprefix(f"(?:{_BEFORE}").removesuffix(f"{_AFTER})")
        return _unquoted(both[: (len(both) - 1) // 2])
    return _unquoted(found.removeprefix(_BEFORE).removesuffix(_AFTER))


def _unquoted(text: str) -> str:
    """The text from which `quoted` made the expression *text*."""
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
