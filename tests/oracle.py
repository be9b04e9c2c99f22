"""DustBuster as it is printed: the figures line by line, slow on purpose. The product has to agree with it.

Sources: "WWW'07" is Bar-Yossef, Keidar, Schonfeld, *Do Not Crawl in the DUST*, WWW 2007; "thesis" is Schonfeld's
of 2006. The numbers at the ends of lines are the figures' own. What neither says, and had to be settled, is
marked "Settled:".

Nothing of scrapy_dust is imported here. Tokens are strings, strings over tokens are tuples. An anchor is longer
than one character and no run of letters and digits, so no token of a URL can be one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

Tokens = tuple[str, ...]

START, END = "<^>", "<$>"
LETTERS_AND_DIGITS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")


# --- WWW'07 section 3: URLs are strings over tokens ---------------------------------------------------------


def tokens_of(text: str) -> Tokens:
    """Alphanumeric strings and non-alphanumeric characters. Settled: alphanumeric means ASCII."""
    tokens: list[str] = []
    in_run = False
    for character in text:
        if in_run and character in LETTERS_AND_DIGITS:
            tokens[-1] += character
        else:
            tokens.append(character)
        in_run = character in LETTERS_AND_DIGITS
    return tuple(tokens)


def url_tokens(url: str) -> Tokens:
    """Every URL starts with the special token ^ and ends with the special token $."""
    return (START, *tokens_of(url), END)


def text_of(tokens: Tokens) -> str:
    """As a person writes it: the anchors as ^ and $."""
    return "".join({START: "^", END: "$"}.get(token, token) for token in tokens)


class Pair(NamedTuple):
    """(α, β), for both rules α → β and β → α, with α > β."""

    alpha: Tokens
    beta: Tokens
    support: int

    @property
    def start(self) -> bool:
        return self.alpha[:1] == (START,)

    @property
    def end(self) -> bool:
        return self.alpha[-1:] == (END,)

    def printed(self) -> tuple[str, str, bool, bool, int]:
        """As `scrapy dustmine --phase … --json` has it: the anchors are flags, not in the strings."""
        alpha, beta = (
            "".join(token for token in side if token not in (START, END)) for side in (self.alpha, self.beta)
        )
        return alpha, beta, self.start, self.end, self.support


def shrinking(one: Tokens, other: Tokens) -> tuple[Tokens, Tokens]:
    """α > β: |α| > |β|, or |α| = |β| and α succeeds β in the lexicographical order (WWW'07 section 5.3).

    Settled: length is in tokens, the order is the strings'.
    """
    longer = (len(one), text_of(one)) > (len(other), text_of(other))
    return (one, other) if longer else (other, one)


def by_support(pair: Pair) -> tuple[int, str, str, bool, bool]:
    """Settled: support descending, then α, then β, with their anchors.

    The last two only tell an anchor from the literal character: the pair without the anchor is first.
    """
    return -pair.support, text_of(pair.alpha), text_of(pair.beta), pair.start, pair.end


# --- WWW'07 section 5.1: what has to be done to a URL list before figure 1 -----------------------------------


class Record(NamedTuple):
    """One unique URL of the list."""

    url: str
    size: tuple[int, int] | None  #: least and greatest
    sketch: tuple[int, ...] | None


def unique_records(lines: Iterable[Mapping[str, object]]) -> list[Record]:
    """Only unique URLs are kept, errors are filtered out, each has its sketch or size range.

    Settled: redirects are filtered out as errors are; a line without a status is no error; the first sketch
    counts; the range is over all lines of the URL that are left.
    """
    records: dict[str, Record] = {}
    for line in lines:
        status = line.get("status")
        if isinstance(status, int) and 300 <= status <= 599:
            continue
        url = line["url"]
        assert isinstance(url, str)
        known = records.get(url, Record(url, None, None))
        records[url] = Record(
            url, _wider(known.size, line.get("size")), known.sketch or _sketch(line.get("sketch"))
        )
    return list(records.values())


def _wider(known: tuple[int, int] | None, size: object) -> tuple[int, int] | None:
    if size is None:
        return known
    low, high = (size, size) if isinstance(size, int) else tuple(size)  # type: ignore[arg-type]
    return (low, high) if known is None else (min(low, known[0]), max(high, known[1]))


def _sketch(sketch: object) -> tuple[int, ...] | None:
    return tuple(sketch) if sketch else None  # type: ignore[arg-type]


# --- WWW'07 section 4: similarity likeliness ------------------------------------------------------------------

LikelySimilar = Callable[[Record, Record], bool]


def likely_similar_by_sketch(k: int = 4) -> LikelySimilar:
    """Settled: *k* hashes are equal, each with the one in its place; no sketch is not unlike any."""

    def likely_similar(one: Record, other: Record) -> bool:
        if one.sketch is None or other.sketch is None:
            return True
        return sum(a == b for a, b in zip(one.sketch, other.sketch, strict=False)) >= k

    return likely_similar


def likely_similar_by_size(one: Record, other: Record) -> bool:
    """The intervals overlap. Settled: closed intervals; no size is not unlike any."""
    if one.size is None or other.size is None:
        return True
    return one.size[0] <= other.size[1] and other.size[0] <= one.size[1]


def likely_similar_always(one: Record, other: Record) -> bool:
    return True


# --- WWW'07 figure 1 (thesis figure 5.1) ------------------------------------------------------------------------


def detect_likely_rules(  # noqa: C901 (as nested as the figure)
    L: Sequence[Record], S: int, T: int, MS: int, likely_similar: LikelySimilar
) -> list[Pair]:  # 1
    ST: list[tuple[Tokens, Tokens, Tokens, Record]] = []  # 2: (substring, prefix, suffix, range or sketch)
    IT: list[tuple[Tokens, Tokens]] = []  # 3: (substring1, substring2)
    RT: list[Pair] = []  # 4
    for r in L:  # 5
        url = url_tokens(r.url)
        for length in range(S + 1):  # 6
            for at in range(len(url) - length + 1):  # 7
                alpha = url[at : at + length]
                p = url[:at]  # 8
                s = url[at + length :]  # 9
                ST.append((alpha, p, s, r))  # 10
    buckets = defaultdict(list)  # 11
    for alpha, p, s, r in ST:
        buckets[p, s].append((alpha, r))
    for B in buckets.values():  # 12
        if len(B) == 1 or len(B) > T:  # 13
            continue
        for i, (substring1, r1) in enumerate(B):  # 14
            for substring2, r2 in B[i + 1 :]:
                if likely_similar(r1, r2):  # 15
                    IT.append(shrinking(substring1, substring2))  # 16
    rule_supports = Counter(IT)  # 17
    for (substring1, substring2), size in rule_supports.items():  # 18, 19
        RT.append(Pair(substring1, substring2, size))  # 20
    RT.sort(key=by_support)  # 21
    return [pair for pair in RT if pair.support >= MS]  # 22


# --- WWW'07 section 5.2 and figure 2 (thesis figure 5.2) --------------------------------------------------------


def rule_refines(narrow: tuple[Tokens, Tokens], wide: tuple[Tokens, Tokens]) -> bool:
    """Lemma 5.3, by the algorithm beneath it, for rules: each (α, β) here is α → β alone."""
    (alpha_, beta_), (alpha, beta) = narrow, wide
    for at in range(len(alpha_) - len(alpha) + 1):
        replaced = alpha_[:at] + beta + alpha_[at + len(alpha) :]
        if alpha_[at : at + len(alpha)] == alpha and replaced == beta_:
            return True
    return False


def pair_refines(narrow: Pair, wide: Pair) -> bool:
    """When considering two pairs, we check refinement in both directions."""
    rule = narrow.alpha, narrow.beta
    return rule_refines(rule, (wide.alpha, wide.beta)) or rule_refines(rule, (wide.beta, wide.alpha))


def eliminate_redundancies(R: Sequence[Pair], MRD: float, MAD: int, MW: int) -> list[Pair]:  # 1
    """The support of each pair in *R* is its size here: R[i].size."""
    relative = Fraction(str(MRD))
    eliminated: set[int] = set()
    for i in range(1, len(R) + 1):  # 2
        if i in eliminated:  # 3
            continue
        for j in range(1, min(MW, len(R) - i) + 1):  # 4
            one, other = R[i - 1], R[i + j - 1]
            if one.support - other.support > max(relative * one.support, Fraction(MAD)):  # 5
                break
            # Settled: as drawn, R[i + j] is looked at even if it was eliminated before. (As refinement is
            # transitive and the list sorted, that makes no difference.)
            if pair_refines(one, other):  # 6
                eliminated.add(i + j)  # 7
            elif pair_refines(other, one):  # 8
                eliminated.add(i)  # 9
                break  # 10
    return [R[i - 1] for i in range(1, len(R) + 1) if i not in eliminated]  # 11


def kept_rules(
    L: Sequence[Record],
    S: int,
    T_low: int,
    T_high: int,
    MS: int,
    MRD: float,
    MAD: int,
    MW: int,
    likely_similar: LikelySimilar,
) -> list[Pair]:
    """Phases 1 and 2 (WWW'07 section 5.2: the first phase runs twice).

    Settled: the list is that of T_low, sorted by the supports of T_high; what is kept has those of T_low.
    """
    likely = detect_likely_rules(L, S, T_low, MS, likely_similar)
    low = {(pair.alpha, pair.beta): pair.support for pair in likely}
    high = {
        (pair.alpha, pair.beta): pair.support for pair in detect_likely_rules(L, S, T_high, 1, likely_similar)
    }
    R = sorted((Pair(a, b, high[a, b]) for a, b in low), key=by_support)
    kept = eliminate_redundancies(R, MRD, MAD, MW)
    return sorted((Pair(a, b, low[a, b]) for a, b, _ in kept), key=by_support)


# --- The standard way of applying a rule (thesis, remark under figure 5.3) ---------------------------------------


def apply_rule(alpha: Tokens, beta: Tokens, url: str) -> str:
    """We simply replace the first occurrence of the substring.

    Settled: an occurrence is one after which the text has the very tokens that we put there, since otherwise
    the result is no string pβs over the tokens of any URL. An empty α without an anchor occurs nowhere.
    """
    if not alpha:
        return url
    tokens = url_tokens(url)
    for at in range(len(tokens) - len(alpha) + 1):
        if tokens[at : at + len(alpha)] == alpha:
            replaced = tokens[:at] + beta + tokens[at + len(alpha) :]
            text = "".join(replaced[1:-1])
            if url_tokens(text) == replaced:
                return text
    return url


def is_instance(one: str, other: str, alpha: Tokens, beta: Tokens) -> bool:
    """WWW'07 definition 3.1: there are p and s such that one = pαs and other = pβs."""
    u1, u2 = url_tokens(one), url_tokens(other)
    return any(
        u1[at : at + len(alpha)] == alpha and u1[:at] + beta + u1[at + len(alpha) :] == u2
        for at in range(len(u1) + 1)
    )


# --- WWW'07 figure 3 (thesis figure 5.3) --------------------------------------------------------------------------


def validate_rule(
    rule: Callable[[str], str],
    draws: Iterator[str],
    fetch: Callable[[str], object],
    N: int,
    epsilon: float,
) -> bool | None:  # 1
    """*draws* are the random URLs, *fetch* gives DocSketch, or None where it failed.

    None: the draws ended before the rule was decided, where the figure would go on forever.
    """
    e = Fraction(str(epsilon))
    positive = 0  # 2
    negative = 0  # 3
    while positive < (1 - e) * N and negative < e * N:  # 4
        u = next((url for url in draws if rule(url) != url), None)  # 5
        if u is None:
            return None
        v = rule(u)  # 6
        sketch_u, sketch_v = fetch(u), fetch(v)  # 7
        if sketch_u is None:  # 8
            continue
        if sketch_v is None or sketch_u != sketch_v:  # 9
            negative += 1  # 10
        else:  # 11
            positive += 1  # 12
        if negative >= e * N:  # 13
            return False  # 14
    return True  # 15


# --- WWW'07 figure 4 (thesis figure 5.4, where line 13 adds the wrong direction) ------------------------------------


def validate(
    R: Sequence[Pair], is_valid: Callable[[Tokens, Tokens], bool | None]
) -> list[tuple[Tokens, Tokens]]:  # 1
    """*is_valid* is ValidateRule on the test list; what it leaves open (None) is not valid."""
    LR: list[tuple[Tokens, Tokens]] = []  # 2
    eliminated: set[int] = set()
    for i in range(1, len(R) + 1):  # 3
        alpha, beta, _ = R[i - 1]
        for j in range(1, i):  # 4
            if j not in eliminated and pair_refines(R[i - 1], R[j - 1]):  # 5
                eliminated.add(i)  # 6
                break  # 7
        if i in eliminated:  # 8
            continue  # 9
        if is_valid(alpha, beta):  # 10
            LR.append((alpha, beta))  # 11
        elif is_valid(beta, alpha):  # 12
            LR.append((beta, alpha))  # 13: the thesis adds α → β here
        else:  # 14
            eliminated.add(i)  # 15
    return LR  # 16


# --- Thesis figure 5.5 (WWW'07 section 5.4) ---------------------------------------------------------------------------


def canonize(u: str, R: Sequence[tuple[Tokens, Tokens]], MA: int) -> tuple[str, bool]:  # 1
    """The form, and whether a pass left it as it was; the figure does not ask for the latter."""
    settled = False
    for _ in range(1, MA + 1):  # 2
        prev = u  # 3
        for alpha, beta in R:  # 3 (two lines have this number)
            u = apply_rule(alpha, beta, u)  # 4
        if prev == u:  # 5
            settled = True
            break  # 6
    return u, settled  # 7
