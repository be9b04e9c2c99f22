"""Whether a document can be parsed at a bounded cost, judged from its tags alone in one pass.

A parser that follows the HTML standard can be made to do work that grows with the square of the open tags, of the
attributes of one tag, or of formatting elements that come again in each block: a megabyte of these takes minutes or
gigabytes. So `is_tangled` keeps a stack that is at least as deep as the parser's: an end tag takes an element off
only where the parser certainly does too. Wrongly nested elements stay on the stack; a real document has a handful.

The tokens are the standard's (https://html.spec.whatwg.org/#tokenization). Where the meaning of a tag depends on the
tree, as in drawings, formulas, ``select`` and ``frameset``, the document is refused if it matters.
"""

from __future__ import annotations

import re

#: Deep documents have some tens of tags open at once, and browsers stop at 512.
MAX_OPEN_TAGS = 1000
#: Attributes of one tag, and of all tags ``html`` or ``body`` together, since the parser joins these into one element.
MAX_ATTRIBUTES = 500
#: Characters of open formatting elements, summed over all tags: what the parser may have to copy.
MAX_COPIED = 6_000_000

_SPACE = r"\t\n\f\r "
_VALUE = rf"\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|[^{_SPACE}\"'>][^{_SPACE}>]*+"
_ATTRIBUTE = rf"[^{_SPACE}/>][^{_SPACE}/>=]*+(?:[{_SPACE}]*+=[{_SPACE}]*+(?:{_VALUE})?+)?+"
ATTRIBUTES = rf"(?:[{_SPACE}/]++|{_ATTRIBUTE})*+"
_RAW = "script|style|noscript|title|textarea|iframe|noembed|noframes|xmp|plaintext"
_TOKEN = re.compile(
    r"<(?:"
    rf"(?=[sntixpSNTIXP])((?i:{_RAW}))(?=[{_SPACE}/>])({ATTRIBUTES})>?"
    rf"(.*?)(?:</(?i:\1)(?=[{_SPACE}/>]){ATTRIBUTES}|\Z)"
    rf"|(/?[a-zA-Z][^{_SPACE}/>]*+)({ATTRIBUTES})"
    r"|!--(?:-?>|.*?(?:--!?>|\Z))"
    r"|(!\[CDATA\[)?[!?/][^>]*+"
    r")",
    re.DOTALL,
)
_EACH_ATTRIBUTE = re.compile(_ATTRIBUTE)

#: Start tags whose tree, however deep, takes 0.2 s; and start tags so few that copies add at most half their square.
_MODERATE, _FEW = 12_000, 300
#: Elements that the parser may add by copying; each takes some 360 bytes.
_MAX_COPIES = 600_000
_LADEN = re.compile(rf"<[a-zA-Z][^{_SPACE}/>]*+(?:[{_SPACE}/]*+{_ATTRIBUTE}){{40}}")
_PLAIN_ATTRIBUTE = rf"[{_SPACE}]++[a-zA-Z-]++(?:=(?:\"[^\"<>]*+\"|'[^'<>]*+'))?"
_BARE_STYLES = 13
# With all of its attributes where it is plain where the tag ends.
_STYLED = re.compile(
    r"<(?=[bcefinstuBCEFINSTU])((?i:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)"
    rf"(?=[{_SPACE}/])(?:{_PLAIN_ATTRIBUTE})*+>?)"
)

_ROOTS = frozenset({"html", "body"})
# Never open, or never one inside another without an element around it that is counted.
_UNCOUNTED = _ROOTS | frozenset(
    "head area base basefont bgsound br col embed frame hr img image input keygen link meta param source track "
    "wbr td th tr tbody thead tfoot caption colgroup".split()
)
_LIST_ITEMS, _DEFINITIONS = frozenset({"li"}), frozenset({"dd", "dt"})
# A start tag ends the element that is open last, if that is one of these.
_ENDED_BY = {
    "p": frozenset({"p"}),
    "a": frozenset({"a"}),
    "option": frozenset({"option"}),
    "li": frozenset({"li"}),
    "dd": frozenset({"dd", "dt"}),
    "dt": frozenset({"dd", "dt"}),
}
_ITEMS = frozenset({"li", "dd", "dt"})
# End tags imply those of these.
_IMPLIED = frozenset({"p", "li", "dd", "dt", "option", "optgroup", "rb", "rp", "rt", "rtc"})
_BLOCKS = frozenset(
    "address article aside blockquote button center details dialog dir div dl fieldset figcaption figure footer "
    "form h1 h2 h3 h4 h5 h6 header hgroup li dd dt listing main menu nav ol pre section select summary table "
    "template ul".split()
)
_FORMATTING = frozenset("a b big code em font i nobr s small strike strong tt u".split())
_FOREIGN = frozenset({"svg", "math"})
_REFUSING = frozenset({"select", "frameset"})
# What a drawing is made of. Anything else in one ends it, or may.
_SHAPES = frozenset(
    "svg g defs symbol use path circle ellipse line polyline polygon rect image text tspan stop lineargradient "
    "radialgradient clippath mask pattern filter marker animate animatetransform math mrow".split()
)


def is_tangled(markup: str) -> bool:
    """Whether *markup* could cost the parser too much, and must not be parsed."""
    return not _is_harmless(markup) and _Nesting().is_tangled(_TOKEN.findall(markup))


def _is_harmless(markup: str) -> bool:
    """Whether *markup* is as simple as most documents are; a quick check, at a tenth of the cost."""
    start_tags = markup.count("<") - markup.count("</")
    if start_tags > _MODERATE or _LADEN.search(markup):
        return False
    if start_tags <= _FEW:
        return True
    # Before each tag the parser may copy three of each that are alike, and one link.
    styled = _STYLED.findall(markup)
    different = len(set(styled)) + sum(not one.endswith(">") for one in styled)
    return start_tags * (1 + 3 * (_BARE_STYLES + different)) <= _MAX_COPIES


class _Nesting:
    """The elements that may be open in the parser."""

    def __init__(self) -> None:
        self.open: list[str] = []
        self.weights: list[int] = []  # of the formatting elements among them, 0 of others
        self.copied = self.weight = self.root_attributes = 0
        self.foreign = 0  # drawings and formulas that may be open
        self.refusing = 0  # elements that may be open, in which no text begins
        self.drawing = False  # the element opened last is surely part of a drawing

    def is_tangled(self, tokens: list[tuple[str, str, str, str, str, str]]) -> bool:
        """Whether parsing *tokens* could cost too much."""
        for raw, raw_attributes, content, tag, attributes, cdata in tokens:
            self.copied += self.weight
            if not tag:
                if (raw or cdata) and self._is_unclear(raw, content):
                    return True
            elif tag[0] == "/":
                self._end(tag[1:].lower())
            else:
                self._start(tag.lower(), attributes)
            if len(self.open) > MAX_OPEN_TAGS or self.copied > MAX_COPIED:
                return True
            if _are_many(attributes) or _are_many(raw_attributes):
                return True
        return self.root_attributes > MAX_ATTRIBUTES

    def _is_unclear(self, raw: str, content: str) -> bool:
        """Whether the text *content* after the tag *raw* may be read as tags, or may go on after its seeming end."""
        if not raw:
            return self.foreign > 0
        if self.foreign or self.refusing:
            return "<" in content
        return "<!--" in content and raw.lower() == "script" and "<script" in content.lower()

    def _start(self, name: str, attributes: str) -> None:
        """Put the element of a start tag on the stack, if it may stay open."""
        if self.foreign:
            if name not in _SHAPES:
                self.drawing = False
            elif self.drawing and attributes.endswith("/"):
                return
        elif name in _UNCOUNTED:
            if name in _ROOTS:
                self.root_attributes += len(_EACH_ATTRIBUTE.findall(attributes))
            return
        elif name in _ENDED_BY:
            self._end_before(name)
        if name in _FOREIGN:
            self.foreign += 1
            self.drawing = True
        self.refusing += name in _REFUSING
        self.open.append(name)
        self.weights.append(20 + len(attributes) if name in _FORMATTING else 0)
        self.weight += self.weights[-1]

    def _end_before(self, name: str) -> None:
        """Take the elements off the stack that the start tag of *name* ends, such as a list item before the next one."""
        ended, still_open = _ENDED_BY[name], self.open
        if name in _ITEMS and len(still_open) > 1 and still_open[-1] == "p" and still_open[-2] in ended:
            self._pop()
        if still_open and still_open[-1] in ended:
            self._pop()

    def _end(self, name: str) -> None:
        """Take the elements off the stack that the end tag of *name* ends."""
        still_open = self.open
        last = len(still_open) - 1
        if name in _BLOCKS and not self.foreign:
            while last >= 0 and still_open[last] != name and still_open[last] in _IMPLIED:
                last -= 1
        if last >= 0 and still_open[last] == name:
            while len(still_open) > last:
                self._pop()
        else:
            self.drawing = False

    def _pop(self) -> None:
        """Take the innermost element off the stack."""
        name = self.open.pop()
        self.weight -= self.weights.pop()
        self.refusing -= name in _REFUSING
        if name in _FOREIGN:
            self.foreign -= 1
            self.drawing = False


def _are_many(attributes: str) -> bool:
    return len(attributes) > MAX_ATTRIBUTES and len(_EACH_ATTRIBUTE.findall(attributes)) > MAX_ATTRIBUTES
