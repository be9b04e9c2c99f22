"""The rules that a job has learned while it ran, saved in its JOBDIR with the URLs whose pages it has.

A rule is saved before any key is made by it. When the job goes on, all its rules are in force from the first request,
in the same order as before the pause, and the URLs that had shown pages get their keys again while the job crawls. A
class whose URL is not saved costs one more fetch. If another version or other settings would apply the rules in
another way, their sites are *set aside*: only repetitions of the very same request are filtered there.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scrapy_dust.errors import RuleBookError
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.document import parse
from scrapy_dust.rule_book.entries import Entry
from scrapy_dust.rules.canonizer import CANONIZER_VERSION
from scrapy_dust.rules.rule import Rule
from scrapy_dust.settings import DustSettings

logger = logging.getLogger(__name__)

#: In a JOBDIR: how rules are applied, each change of the rules of a site, and the crawl logs of the job, line by line.
FILE = "dust-learned.jsonl"
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
        self._path, self._shown = Path(jobdir, FILE), Path(jobdir, SHOWN_FILE)
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
    path = Path(jobdir, FILE)
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
