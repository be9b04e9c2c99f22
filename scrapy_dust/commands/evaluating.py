"""The work of ``scrapy dusteval``: it reads the options and the logs, compares methods, and prints tables."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from statistics import fmean

from scrapy.settings import Settings
from scrapy.utils.project import inside_project

from scrapy_dust.commands.evaluating_online import OnlineEvaluation, methods_of
from scrapy_dust.commands.normalizing import normalization_json, normalization_table
from scrapy_dust.commands.progress import Line
from scrapy_dust.commands.suggestions import no_such
from scrapy_dust.commands.tables import table
from scrapy_dust.commands.truths import Examined, examine
from scrapy_dust.crawl_log import log_dir
from scrapy_dust.errors import DustError
from scrapy_dust.learners.dust_learner import Dust
from scrapy_dust.learners.evaluation import Order, Protocol, Score, Split, score_method, tasks_of, teach
from scrapy_dust.learners.interface import Learner
from scrapy_dust.learners.labelling import labelled
from scrapy_dust.learners.leftovers import Left
from scrapy_dust.learners.no_validation import NoValidation
from scrapy_dust.learners.normalization import Consistency, consistency_of
from scrapy_dust.learners.registry import LEARNERS, NETWORKS
from scrapy_dust.neural.torch_extra import NoNetwork, is_installed
from scrapy_dust.rule_book.priors import all_priors
from scrapy_dust.settings import DustSettings


class NothingToReplay(DustError):
    """A log, or a split of it, that leaves nothing to crawl."""


def evaluation_of(
    project: Settings, logs: Sequence[str], opts: argparse.Namespace
) -> Evaluation | OnlineEvaluation:
    """The comparison that the options ask for. Raises `ValueError` for a wrong value."""
    settings = DustSettings.from_settings(project)
    if not logs:
        if settings.dir is None and not inside_project():
            raise ValueError("no LOG given, and this is no Scrapy project with a log of its own.")
        logs = [str(log_dir(settings.dir))]
    if opts.online:
        return OnlineEvaluation(tuple(logs), opts.truth, settings, methods_of(opts.methods), opts.json)
    seed, seeds = _integer("--seed", opts.seed, 0), _integer("--seeds", opts.seeds, 1)
    protocol = Protocol(split=Split(opts.split), order=Order(opts.order), train=_train_share(opts.train))
    return Evaluation(
        logs=tuple(logs),
        truth=opts.truth,
        labels=opts.labels,
        beta=_beta(opts.beta),
        learners=_learners(opts.methods, settings, near=(opts.labels or opts.truth) in _NEAR),
        protocols=tuple(replace(protocol, seed=seed + more) for more in range(seeds)),
        as_json=opts.json,
        normalization=opts.normalization,
    )


def _learners(methods: str | None, settings: DustSettings, *, near: bool) -> tuple[Learner, ...]:
    """The learners to compare: those that *methods* names, or all. *near*: pages that are nearly equal count as one.
    Raises `ValueError`.
    """
    names = [name.strip() for name in methods.split(",")] if methods is not None else list(LEARNERS)
    for name in names:
        if name not in _METHODS:
            raise ValueError(no_such("method", name, _METHODS))
        if name in NETWORKS and not is_installed():
            raise ValueError(str(NoNetwork()))
    return tuple(_learner(name, settings, near=near) for name in dict.fromkeys(names))


_METHODS = {**LEARNERS, **NETWORKS}

#: Truths by which pages are one that are nearly equal.
_NEAR = ("strict", "cluster_strict")


def _learner(name: str, settings: DustSettings, *, near: bool) -> Learner:
    """The learner *name*. Our own learners follow the project's settings, the others follow their papers."""
    if name == "dust":
        return Dust(max_loss=settings.max_loss, near=near, pool=all_priors(_state_folder(settings)))
    return NoValidation(settings) if name == "dustmine" else _METHODS[name]()


def _state_folder(settings: DustSettings) -> Path | None:
    """The folder of the project's state, which has prior beliefs from the project's own sites; None without a project."""
    return None if settings.dir is None and not inside_project() else log_dir(settings.dir).parent


def _integer(name: str, value: str, least: int) -> int:
    """The *value* of the option *name* as an integer. Raises `ValueError` if it is none, or below *least*."""
    if not value.isdecimal() or int(value) < least:
        raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}.")
    return int(value)


def _beta(value: str) -> float:
    """The *value* of ``--beta`` as a number above 0. Raises `ValueError`."""
    try:
        beta = float(value)
    except ValueError:
        beta = 0.0
    if not 0 < beta < inf:
        raise ValueError(f"--beta must be a number above 0, got {value!r}.")
    return beta


def _train_share(value: str) -> float:
    """The *value* of ``--train`` as a number between 0 and 1. Raises `ValueError`."""
    try:
        share = float(value)
    except ValueError:
        share = -1.0
    if not 0 < share < 1:
        raise ValueError(f"--train must be a number between 0 and 1, got {value!r}.")
    return share


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One run of ``scrapy dusteval``."""

    logs: tuple[str, ...]
    truth: str | None
    labels: str | None  #: what all learn from; None: each reads contents in its own way
    beta: float
    learners: tuple[Learner, ...]
    protocols: tuple[Protocol, ...]
    as_json: bool
    normalization: bool

    def run(self) -> None:
        """Compare the methods and print the table. Raises `DustError` where that cannot be done."""
        examined = examine(self.logs, self.truth)
        if examined.unreadable:
            print(f"not read: {examined.unreadable} lines.", file=sys.stderr)
        consistency = consistency_of(visit for of_site in examined.visits.values() for visit in of_site)
        scores = self._scores(examined, consistency)
        heads = (
            _HEADS if self.beta == 1 else tuple(f"F{self.beta:g}" if one == "F1" else one for one in _HEADS)
        )
        if self.as_json:
            for of_method in scores:
                print(
                    json.dumps(
                        self._json(of_method, examined.field) | normalization_json(of_method, consistency)
                    )
                )
            return
        print(_table(scores, heads, self.beta))
        print()
        if self.normalization:
            print(normalization_table(scores, consistency))
            print()
        for of_method in scores:
            kinds = [
                f"{_count_as_text(count)} {kind}"
                for kind, count in _leftovers_by_cause(of_method).items()
                if count
            ]
            print(f"Copies fetched with {of_method[0].method}, by cause: {', '.join(kinds) or 'none'}.")
        print(self._summary(scores[0], examined))

    def _scores(self, examined: Examined, consistency: Consistency) -> list[list[Score]]:
        """The scores of each method, one for each seed."""
        scores: list[list[Score]] = [[] for _ in self.learners]
        line = Line(sys.stderr, piped=False)
        labels = examine(self.logs, self.labels).truth if self.labels else None
        for run, protocol in enumerate(self.protocols, start=1):
            tasks = tasks_of(examined.visits, examined.truth, protocol)
            if not tasks:
                raise NothingToReplay(self._why_nothing(protocol, examined))
            if labels is not None:
                tasks = [replace(task, log=labelled(task.log, labels)) for task in tasks]
            for learner, of_method in zip(self.learners, scores, strict=True):
                line.show(f"Run {run} of {len(self.protocols)}: {learner.name} learns")
                taught = list(teach(learner, tasks))
                of_method.append(score_method(learner.name, taught, examined.truth, consistency.inconsistent))
        line.clear()
        return scores

    def _why_nothing(self, protocol: Protocol, examined: Examined) -> str:
        """A sentence that says why no URL is left to replay."""
        where = ", ".join(self.logs)
        if protocol.split is Split.HOST:
            return f"{where}: no host with known contents is left to replay. Take another --split or --seed."
        return (
            f"{where}: no URL whose {examined.field!r} is known is left to replay. "
            "Name a longer log, or a smaller --train."
        )

    def _json(self, scores: Sequence[Score], field: str) -> dict[str, object]:
        """The JSON object for one method, whose *scores* are one for each seed. *field*: the field of the log that is
        the truth.
        """
        protocol = self.protocols[0]
        how = {
            "truth": field,
            "labels": self.labels,
            f"f{self.beta:g}": fmean(score.replay.f(self.beta) for score in scores),
            "split": protocol.split,
            "order": protocol.order,
            "train": protocol.train,
            "seed": protocol.seed,
            "seeds": len(self.protocols),
        }
        return {"method": scores[0].method, **_means(scores), "left": _leftovers_by_cause(scores), **how}

    def _summary(self, scores: Sequence[Score], examined: Examined) -> str:
        """A sentence on the URLs that were replayed, above the table."""
        protocol, means = self.protocols[0], _means(scores)
        runs = f" Means over {len(scores)} seeds." if len(scores) > 1 else ""
        return (
            f"Replayed {means['urls']:g} URLs of {means['clusters']:g} contents (by {examined.field}); "
            f"learned from {protocol.train:.0%} (by {protocol.split}), "
            f"replayed in {'random' if protocol.order is Order.RANDOM else 'the log’s'} order.{runs}"
        )


def _means(scores: Sequence[Score]) -> dict[str, float]:
    """The mean of each measure over *scores*, which are one for each seed."""

    def mean(of: str) -> float:
        """The mean of the measure *of*: an integer if the measure is a count and the mean is one."""
        value = fmean(getattr(score.replay, of) for score in scores)
        return int(value) if value.is_integer() and of in _COUNTS else value

    figures = {of: mean(of) for of in ("precision", "recall", "f1", *_COUNTS, "redundancy", "coverage")}
    rules = fmean(score.rules for score in scores)
    return figures | {
        "rules": int(rules) if rules.is_integer() else rules,
        "us_per_url": round(fmean(score.us_per_url for score in scores), 2),
        "learn_seconds": round(fmean(score.learn_seconds for score in scores), 3),
    }


def _leftovers_by_cause(scores: Sequence[Score]) -> dict[str, float]:
    """For each cause, the number of URLs that were fetched although another URL had shown their page."""
    means = {str(kind): fmean(score.left.get(kind, 0) for score in scores) for kind in Left}
    return {kind: int(mean) if mean.is_integer() else mean for kind, mean in means.items()}


_COUNTS = ("urls", "clusters", "crawled", "covered", "lost")
_HEADS = ("method", "precision", "recall", "F1", "crawled", "covered", "lost", "rules", "µs/URL", "learn s")


def _table(scores: Sequence[Sequence[Score]], heads: Sequence[str], beta: float) -> str:
    """The table of all methods, a row each. *scores*: for each method, one for each seed."""
    rows = []
    for of_method in scores:
        means = _means(of_method)
        rows.append(
            [
                of_method[0].method,
                *(f"{means[name]:.4f}" for name in ("precision", "recall")),
                f"{fmean(score.replay.f(beta) for score in of_method):.4f}",
                *(_count_as_text(means[name]) for name in ("crawled", "covered", "lost", "rules")),
                f"{means['us_per_url']:.1f}",
                f"{means['learn_seconds']:.1f}",
            ]
        )
    return table(heads, rows, right=range(1, len(heads)))


def _count_as_text(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.1f}"
