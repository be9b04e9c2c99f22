"""Compares learners on a log: each learns from one part of a site, and crawls the other part by its keys.

SIGIR 2017's protocol: the URLs of the second part come as a crawler finds them, one whose key is new is fetched, and
what counts is how many contents are seen and how many URLs it took. Each site is learned by itself; figures are
summed over sites. URLs whose content nobody knows (errors) are learned from, not crawled.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random
from urllib.parse import urlsplit

from scrapy_dust.learners.interface import Learned, Learner
from scrapy_dust.learners.leftovers import Left, leftovers
from scrapy_dust.learners.measures import Replay, replay
from scrapy_dust.learners.normalization import NOTHING, Normalization, normalization_of
from scrapy_dust.page.site_log import site_log
from scrapy_dust.visits.pages import SiteLog, Visit, page_behind

Truth = Mapping[str, Hashable]  #: URL → the content it shows


class Split(StrEnum):
    """The ways to choose the part of a log that is learned from."""

    LOG = "log"  #: the first URLs of each site
    CLUSTER = "cluster"  #: some of the contents, with all their URLs
    HOST = "host"  #: some of the hosts, with all their URLs


class Order(StrEnum):
    """The orders in which the URLs of the other part come."""

    LOG = "log"
    RANDOM = "random"


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """How a log is divided for a comparison: which part is learned from, and in which order the rest is crawled."""

    split: Split = Split.LOG
    order: Order = Order.LOG
    train: float = 0.75  #: share to learn from
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Task:
    """The log of one site in two parts, one to learn from and one to crawl."""

    site: str
    log: SiteLog  #: what is learned from
    urls: Sequence[str]  #: what is crawled, in the order of arrival
    images: frozenset[str] = frozenset()  #: URLs of the site that show one


@dataclass(frozen=True, slots=True)
class Taught:
    """A method after it has learned from a task, with the time it took."""

    task: Task
    learned: Learned
    keys: Mapping[str, str]
    learn_seconds: float
    key_seconds: float


@dataclass(frozen=True, slots=True)
class Score:
    """The result of a method, summed over all tasks."""

    method: str
    replay: Replay
    rules: int
    learn_seconds: float
    key_seconds: float
    normalization: Normalization = NOTHING
    left: Mapping[Left, int] = field(default_factory=dict)  #: URLs fetched in vain, by why

    @property
    def us_per_url(self) -> float:
        """The microseconds that one key takes."""
        return 1e6 * self.key_seconds / self.replay.urls if self.replay.urls else 0.0


def content_by_text(visits: Iterable[Visit]) -> Truth:
    """The content of each URL, for logs without a truth: equal texts are one, and a redirect shows the page at its end."""
    log = site_log(visits)
    pages = {page.url: page for page in log.pages}
    found = {url: page_behind(url, pages, log.redirects) for url in [*pages, *log.redirects]}
    return {url: page.exact for url, page in found.items() if page is not None and page.text_digest}


def tasks_of(visits: Mapping[str, Sequence[Visit]], truth: Truth, protocol: Protocol) -> list[Task]:
    """The tasks of all sites that have something to crawl."""
    is_training = _TRAINING[protocol.split](visits, truth, protocol)
    tasks = []
    for site, of_site in visits.items():
        unique = dict.fromkeys(visit.url for visit in of_site)
        chosen = {url for url in unique if is_training(url)}
        urls = [url for url in unique if url not in chosen and url in truth]
        if protocol.order is Order.RANDOM:
            Random(f"{protocol.seed} {site}").shuffle(urls)  # noqa: S311
        if urls:
            log = site_log(visit for visit in of_site if visit.url in chosen)
            images = {visit.url for visit in of_site if (visit.content_type or "").startswith("image/")}
            tasks.append(Task(site, log, urls, frozenset(images)))
    return tasks


def _is_among_first(
    visits: Mapping[str, Sequence[Visit]], truth: Truth, protocol: Protocol
) -> Callable[[str], bool]:
    """A function that says whether a URL is among the first of its site, which are learned from."""
    chosen: set[str] = set()
    for of_site in visits.values():
        unique = list(dict.fromkeys(visit.url for visit in of_site))
        chosen.update(unique[: round(protocol.train * len(unique))])
    return chosen.__contains__


def _is_of_learned_contents(
    visits: Mapping[str, Sequence[Visit]], truth: Truth, protocol: Protocol
) -> Callable[[str], bool]:
    """A function that says whether a URL belongs to the part to learn from; all URLs of a content are in one part."""
    held_out = _held_out_names(dict.fromkeys(truth.values()), protocol)
    return lambda url: url not in truth or truth[url] not in held_out


def _is_of_learned_hosts(
    visits: Mapping[str, Sequence[Visit]], truth: Truth, protocol: Protocol
) -> Callable[[str], bool]:
    """A function that says whether a URL is of a host in the part to learn from."""
    hosts = dict.fromkeys(_host(visit.url) for of_site in visits.values() for visit in of_site)
    held_out = _held_out_names(hosts, protocol)
    return lambda url: _host(url) not in held_out


def _held_out_names(names: Iterable[Hashable], protocol: Protocol) -> set[Hashable]:
    """A random part of the contents *names*, of which one at least is left to learn from."""
    listed = list(names)
    Random(protocol.seed).shuffle(listed)  # noqa: S311
    kept = max(1, min(round(protocol.train * len(listed)), len(listed) - 1))
    return set(listed[kept:])


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc.lower()
    except ValueError:
        return ""


_TRAINING = {
    Split.LOG: _is_among_first,
    Split.CLUSTER: _is_of_learned_contents,
    Split.HOST: _is_of_learned_hosts,
}


def teach(learner: Learner, tasks: Iterable[Task]) -> Iterator[Taught]:
    """Have *learner*, which sees no truth, learn from the first part of each task and make keys for the second."""
    for task in tasks:
        began = time.process_time()
        learned = learner.learn(task.site, task.log)
        middle = time.process_time()
        keys = {url: learned.key(url) for url in task.urls}
        yield Taught(task, learned, keys, middle - began, time.process_time() - middle)


def score_method(
    method: str, taught: Sequence[Taught], truth: Truth, inconsistent: Container[str] = frozenset()
) -> Score:
    """Replay each task's held-out URLs with the learned keys; return fetches made, contents found, rules.

    Contents of different sites are different. *inconsistent*: URLs that do not show the same page twice.
    """
    crawls = [replay(one.task.urls, truth, one.keys.__getitem__) for one in taught]
    left: Counter[Left] = Counter()
    for one in taught:
        left += leftovers(one.task.urls, truth, one.keys.__getitem__, one.task.images)
    return Score(
        method,
        Replay(
            urls=sum(crawl.urls for crawl in crawls),
            clusters=sum(crawl.clusters for crawl in crawls),
            crawled=sum(crawl.crawled for crawl in crawls),
            covered=sum(crawl.covered for crawl in crawls),
        ),
        rules=sum(len(one.learned.rules) for one in taught),
        learn_seconds=sum(one.learn_seconds for one in taught),
        key_seconds=sum(one.key_seconds for one in taught),
        left=left,
        normalization=sum((normalization_of(one.keys, truth, inconsistent) for one in taught), NOTHING),
    )
