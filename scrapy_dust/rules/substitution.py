"""DustBuster's rules as an operation: α → β over tokens (WWW'07, Definition 3.1)."""

from __future__ import annotations

from dataclasses import dataclass

from scrapy_dust.rules.operation import ANY, Operation, operation
from scrapy_dust.rules.paths import DropSlash
from scrapy_dust.url.parts import Parts, parts_of
from scrapy_dust.url.tokens import is_token_boundary, tokenize


@operation
@dataclass(frozen=True, slots=True)
class Substitute(Operation):
    """The text β takes the place of the first occurrence of α, in whole tokens."""

    alpha: str
    beta: str
    start: bool = False  #: both sides begin with the anchor ``^``, which is not in the strings
    end: bool = False  #: both sides end with the anchor ``$``
    do = "substitute"
    rank = 20  # after all that knows parts
    of_whole_words = True
    may_be_empty = frozenset(("alpha", "beta"))
    script = """(one, url) => {
      const { alpha, beta, start, end } = one, whole = text(url);
      const isBoundary = (left, right) => !(isWord(left) && isWord(right));
      const standsBetween = (left, middle, right) => (middle === "" ? isBoundary(left, right)
        : isBoundary(left, middle[0]) && isBoundary(middle[middle.length - 1], right));
      const fits = (at) => {
        const left = whole.slice(0, at).slice(-1), right = whole.slice(at + alpha.length, at + alpha.length + 1);
        return standsBetween(left, alpha, right) && standsBetween(left, beta, right);
      };
      let at = -1;
      if (start) at = whole.startsWith(alpha) && (!end || whole.length === alpha.length) ? 0 : -1;
      else if (end) at = whole.endsWith(alpha) ? whole.length - alpha.length : -1;
      else {
        at = alpha === "" ? -1 : whole.indexOf(alpha);
        while (at >= 0 && !fits(at)) at = whole.indexOf(alpha, at + 1);
      }
      if (at < 0 || !fits(at)) return url;
      const made = whole.slice(0, at) + beta + whole.slice(at + alpha.length);
      return made === whole ? url : parts(made);
    }"""

    @property
    def family(self) -> str:
        # A family is what is done, whoever proposed it.
        """The family: a slash at the end, text in the path, or text anywhere."""
        if self.end and {self.alpha, self.beta} == {"/", ""}:
            return DropSlash.family
        return "path substring" if "/" in self.alpha + self.beta else "substring"

    @property
    def needle(self) -> str:
        """The text α that is replaced."""
        return self.alpha

    @property
    def texts(self) -> tuple[str, ...]:
        """The tokens that only one of the two texts has; the other tokens only surround the change."""
        before, after = set(tokenize(self.alpha)), set(tokenize(self.beta))
        return tuple(sorted(before ^ after))

    def apply(self, url: Parts) -> Parts:
        text = url.url
        changed = self.in_text(text)
        return url if changed is text else parts_of(changed)

    def in_text(self, url: str) -> str:
        """*url* with the first occurrence of α replaced, or *url* itself where there is none.

        An occurrence is one of whole tokens, before and after: a rule about ``1`` leaves ``12`` alone.
        Deviation: an α that is empty and not anchored has no first place; such a rule applies nowhere.
        """
        alpha = self.alpha
        if self.start:
            if not url.startswith(alpha) or (self.end and len(url) != len(alpha)):
                return url
            at = 0
        elif self.end:
            if not url.endswith(alpha):
                return url
            at = len(url) - len(alpha)
        else:
            at = url.find(alpha) if alpha else -1
            while at >= 0 and not self._fits_at(url, at):
                at = url.find(alpha, at + 1)
        if at < 0 or alpha == self.beta or not self._fits_at(url, at):
            return url
        return url[:at] + self.beta + url[at + len(alpha) :]

    def _fits_at(self, url: str, at: int) -> bool:
        """Whether α, which stands at *at* in *url*, is whole tokens there, and β would be."""
        end = at + len(self.alpha)
        left, right = url[at - 1 : at] if at else "", url[end : end + 1]
        return _stands_apart(left, self.alpha, right) and _stands_apart(left, self.beta, right)

    def reversed(self) -> Substitute:
        """The substitution of β by α."""
        return Substitute(self.beta, self.alpha, self.start, self.end)

    @property
    def leads_to_urls(self) -> bool:
        """Whether the changed URL can be fetched: not if β has ``*``, which stands for any value."""
        return ANY not in self.beta

    def check_fields(self) -> None:
        if self.alpha == self.beta:
            raise ValueError(f"'alpha' and 'beta' must differ, both are {self.alpha!r}")
        if not (self.alpha or self.start or self.end):
            raise ValueError("'alpha' must not be empty unless 'start' or 'end' is true")

    def __str__(self) -> str:
        head, tail = "^" * self.start, "$" * self.end
        return f"{head}{self.alpha}{tail} → {head}{self.beta}{tail}"


def _stands_apart(left: str, tokens: str, right: str) -> bool:
    """Whether *tokens* between the characters *left* and *right* begin and end with a token boundary."""
    if not tokens:
        return is_token_boundary(left, right)
    return is_token_boundary(left, tokens[0]) and is_token_boundary(tokens[-1], right)


def shrinking(rule: Substitute) -> Substitute:
    """*rule* or its reverse: the one whose text α is longer in tokens than β or, if both are as long, later in order."""
    alpha = (len(tokenize(rule.alpha)), rule.alpha)
    beta = (len(tokenize(rule.beta)), rule.beta)
    return rule if alpha > beta else rule.reversed()


def anchored(rule: Substitute) -> tuple[str, str, bool, bool]:
    """The two sides of *rule* with their anchors, and whether it is anchored at its start and its end, to sort by.
    The flags tell an anchor from a literal ^ or $.
    """
    head, tail = "^" * rule.start, "$" * rule.end
    return head + rule.alpha + tail, head + rule.beta + tail, rule.start, rule.end


def refines(narrow: Substitute, wide: Substitute) -> bool:
    """Whether every instance of *narrow* is one of *wide*, in the same direction (WWW'07, Lemma 5.3)."""
    if (wide.start and not narrow.start) or (wide.end and not narrow.end):
        return False
    a, b = tokenize(narrow.alpha), tokenize(narrow.beta)
    c, d = tokenize(wide.alpha), tokenize(wide.beta)
    spare = len(a) - len(c)
    if spare < 0 or len(b) - len(d) != spare:
        return False
    for left in range(spare + 1):
        right = spare - left
        if (left and wide.start) or (right and wide.end):
            continue
        if (
            a[left : len(a) - right] == c
            and b[left : len(b) - right] == d
            and a[:left] == b[:left]
            and a[len(a) - right :] == b[len(b) - right :]
        ):
            return True
    return False


def pair_refines(narrow: Substitute, wide: Substitute) -> bool:
    """Whether *narrow* refines *wide* or the reverse of *wide*."""
    return refines(narrow, wide) or refines(narrow, wide.reversed())
