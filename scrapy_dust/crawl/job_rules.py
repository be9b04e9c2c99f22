"""Keeps a paused job on the rules that it began with, and on those that it has learned while it ran.

Other rules would make other classes, and pages would be fetched twice. So the JOBDIR has a copy of the rule book, and
rules that `dustmine` has learned since then apply from the next job on.

If a rule of the copy was withdrawn since, because it proved wrong or somebody disabled it, its whole site is *set
aside*: only repetitions of the very same request are filtered there.

A rule that the job learns is saved before any key is made by it. When the job goes on, all its rules are in force from
the first request, in the same order as before the pause, and the URLs that had shown pages get their keys again while
the job crawls. A class whose URL is not saved costs one more fetch. If another version or other settings would apply the
rules in another way, their sites are set aside.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from scrapy_dust.errors import DustError, RuleBookError
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.document import parse
from scrapy_dust.rule_book.entries import Entry, Status
from scrapy_dust.rules.canonizer import CANONIZER_VERSION
from scrapy_dust.rules.rule import Rule
from scrapy_dust.settings import DustSettings

logger = logging.getLogger(__name__)

#: In a JOBDIR: the version of the rules that its fingerprints were made with, and these rules.
VERSION_FILE = "dust-rules.version"
RULES_FILE = "dust-rules.json"

#: The version where no rule is in force: the keys are those of the fingerprinter underneath.
NO_RULES = "none"


@dataclass(frozen=True, slots=True)
class RulesInForce:
    """The rules and settings that a crawl applies, which may be those that its job began with."""

    book: RuleBook
    settings: DustSettings
    set_aside: frozenset[str] = frozenset()  #: sites of which a rule was taken back since the job began
    left_alone: tuple[str, ...] = ()  #: domains that rules are to leave alone since then

    @property
    def version(self) -> str:
        """A text that is different whenever these rules would make different keys."""
        if self.settings.mode != "enforce" or not self.book.rules_by_site():
            return NO_RULES
        # Passes are part of it: with fewer of them a URL may keep the form it came with.
        skipped = (f"-{name}" for name in self.settings.skip_domains)
        return "/".join([self.book.version, str(self.settings.passes), *skipped])


def is_begun(jobdir: str) -> bool:
    """Whether an earlier crawl has begun the job in *jobdir*."""
    return Path(jobdir, VERSION_FILE).exists()


def rules_of_job(jobdir: str, now: RulesInForce) -> RulesInForce:
    """The rules that the job in *jobdir* began with; *now* if the job begins with this crawl.

    If the job's rules cannot be read, or this version would apply them in another way, the job goes on with *now*.
    Classes are named by their rules, so no class of before is mistaken for one of now; at worst, a page is fetched
    again.
    """
    try:
        begun_with = Path(jobdir, VERSION_FILE).read_text(encoding="ascii").strip()
    except FileNotFoundError:
        _begin(jobdir, now)
        return now
    except (OSError, ValueError) as error:
        return _begin_anew(jobdir, now, error)
    if begun_with == now.version:
        return now
    if begun_with == NO_RULES:
        logger.info(
            "%s was begun without rules and goes on without: they apply from the next job on.", jobdir
        )
        return replace(now, book=RuleBook())
    try:
        return _continue_with(jobdir, begun_with, now)
    except (DustError, OSError, ValueError) as error:
        return _begin_anew(jobdir, now, error)


def _begin_anew(jobdir: str, now: RulesInForce, error: Exception) -> RulesInForce:
    """The rules of *now*, for a job whose own rules cannot be used because of *error*."""
    logger.warning(
        "%s: it cannot be told with which rules the job began (%s). It goes on with those of now, and may fetch again what "
        "other URLs have shown.",
        *(jobdir, error),
    )
    with suppress(OSError, DustError):
        _begin(jobdir, now)
    return now


def _begin(jobdir: str, now: RulesInForce) -> None:
    """Save in the JOBDIR the rules that the job begins with."""
    if now.version != NO_RULES:
        in_force = RuleBook()
        for site in now.book.rules_by_site():
            valid = [entry for entry in now.book.entries(site) if entry.status is Status.VALID]
            in_force = in_force.with_site(site, valid)
        in_force.save(Path(jobdir, RULES_FILE))
    unfinished = Path(jobdir, f"{VERSION_FILE}.new")
    unfinished.write_text(f"{now.version}\n", encoding="ascii")
    unfinished.replace(Path(jobdir, VERSION_FILE))


def _continue_with(jobdir: str, begun_with: str, now: RulesInForce) -> RulesInForce:
    """The rules saved in the JOBDIR. Raises `DustError` if this version applies them in another way."""
    book = RuleBook.load([str(Path(jobdir, RULES_FILE))])
    _, passes, *skipped = begun_with.split("/")
    domains = tuple(name.removeprefix("-") for name in skipped)
    settings = replace(now.settings, mode="enforce", passes=int(passes), skip_domains=domains)
    left_alone = tuple(name for name in now.settings.skip_domains if name not in domains)
    begun = RulesInForce(book, settings, _sites_taken_back(book, now), left_alone)
    if begun.version != begun_with:
        raise DustError("this version applies them in another way")
    none = f", but on {_list_sites(begun.set_aside)}, where rules were taken back, none is applied"
    logger.info(
        "%s goes on with the rules it was begun with, so that keys are not mixed; what changed since applies from "
        "the next job on%s.",
        *(jobdir, none if begun.set_aside else ""),
    )
    return begun


def _sites_taken_back(book: RuleBook, now: RulesInForce) -> frozenset[str]:
    """The sites of *book* with a rule that is no longer valid *now*."""
    if now.settings.mode != "enforce":
        return frozenset(book.sites)
    valid = {site: set(rules) for site, rules in now.book.rules_by_site().items()}
    return frozenset(
        site
        for site in book.sites
        if any(entry.rule not in valid.get(site, ()) for entry in book.entries(site))
    )


def _list_sites(sites: frozenset[str]) -> str:
    first = sorted(sites)[:3]
    return ", ".join(first) + (f" and {len(sites) - len(first)} more" if len(sites) > len(first) else "")


#: In a JOBDIR: how rules are applied, each change of the rules of a site, and the crawl logs of the job, line by line.
LEARNED_FILE = "dust-learned.jsonl"
#: The same for the URLs that had shown pages when the job was paused. Only what is fetched once more depends on it.
SHOWN_FILE = "dust-shown.json"


@dataclass(frozen=True, slots=True)
class LearnedBefore:
    """The rules that a job had learned before it was paused."""

    #: In force, by site; none for what was begun with.
    rules: Mapping[str, tuple[Rule, ...]] = field(default_factory=dict)
    logs: tuple[str, ...] = ()
    applied: tuple[object, ...] = ()  #: how, when they were learned
    skipped: tuple[str, ...] = ()  #: domains that were left alone then


class JobLearning:
    """Saves in the JOBDIR what a job learns."""

    def __init__(self, jobdir: str, settings: DustSettings) -> None:
        self._path, self._shown = Path(jobdir, LEARNED_FILE), Path(jobdir, SHOWN_FILE)
        if not self._path.exists():
            self._append({"applied": _canonizer_settings(settings), "skipped": settings.skip_domains})

    def add_log(self, path: str) -> None:
        """Save that the job has written the crawl log at *path*."""
        self._append({"log": path})

    def add_rules(self, site: str, rules: Iterable[Rule]) -> None:
        """Save that *site* goes by *rules*. Raises `OSError`."""
        book = RuleBook().with_site(site, [Entry(rule) for rule in rules])
        self._append({"book": json.loads(book.rendered())})

    def save_shown(self, urls: Mapping[str, list[str]]) -> None:
        """Save the *urls* of each site that have shown pages. A failure is logged, and costs fetches after the pause."""
        unfinished = self._shown.with_suffix(".new")
        try:
            unfinished.write_text(json.dumps(urls), "utf-8")
            unfinished.replace(self._shown)
        except OSError as error:
            said = "%s: %s. After the pause, a page of each class is fetched again."
            logger.warning(said, self._shown, error)

    def shown(self) -> Mapping[str, Sequence[str]]:
        """The saved URLs of each site that have shown pages, as far as the file can be read."""
        try:
            found = json.loads(self._shown.read_text("utf-8"))
            return {str(site): [str(page) for page in pages] for site, pages in found.items()}
        except (
            OSError,
            ValueError,
            AttributeError,
            TypeError,
        ):  # of these classes a page is fetched once more
            return {}

    def _append(self, line: Mapping[str, object]) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def learned_before(jobdir: str) -> LearnedBefore:
    """The rules that the job in *jobdir* had learned, as far as the file can be read; the rest is learned again."""
    path = Path(jobdir, LEARNED_FILE)
    rules: dict[str, tuple[Rule, ...]] = {}
    logs: list[str] = []
    head: dict[str, list[object]] = {}
    try:
        # A last record that was cut short, when the crawl was killed, is left out: no key was made by it.
        whole = path.read_text("utf-8").split("\n")[:-1] if path.exists() else []
        for line in map(json.loads, whole):
            if "book" in line:
                book = RuleBook(parse(str(path), json.dumps(line["book"]).encode()))
                rules |= book.rules_by_site()
            elif "log" in line:
                logs.append(str(line["log"]))
            elif "applied" in line:
                head = line
    except (RuleBookError, ValueError, TypeError, OSError) as error:
        logger.warning(
            "%s: %s. Rules that this job had learned and that stand there are learned again.", path, error
        )
    skipped = tuple(map(str, head.get("skipped", ())))
    return LearnedBefore(rules, tuple(logs), tuple(head.get("applied", ())), skipped)


def set_aside_by(before: LearnedBefore, settings: DustSettings) -> frozenset[str]:
    """The sites whose rules cannot be applied now as they were before the pause."""
    as_it_was = list(before.applied) == _canonizer_settings(settings) and settings.mode == "enforce"
    return frozenset() if as_it_was else frozenset(before.rules)


def _canonizer_settings(settings: DustSettings) -> list[object]:
    return [CANONIZER_VERSION, settings.passes]
