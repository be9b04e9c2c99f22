"""``scrapy dusteval``: compares methods on a log, by the fetches that each would save and the contents that
it would lose.

Only the standard library and Scrapy's own command class are imported here: every ``scrapy`` command imports
this module to list it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import ExitStack

from scrapy_dust.commands.actions import DustCommand
from scrapy_dust.commands.suggestions import one_of


class Command(DustCommand):
    name = "dusteval"
    examples = (
        "scrapy dusteval                               the project's own log, all methods",
        "scrapy dusteval crawl.jsonl.gz --methods keepall,dust --train 0.5",
        "scrapy dusteval crawl.jsonl.gz --online       how much a first crawl would have saved",
        "scrapy dusteval crawl.jsonl.gz --order random --seeds 5 --json",
    )

    def syntax(self) -> str:
        return "[options] [LOG ...]"

    def short_desc(self) -> str:
        return "Learn from one part of a crawl log, replay the rest, and compare methods"

    def long_desc(self) -> str:
        return (
            "Learns from the first part of the project's own crawl log, or of the logs given, replays the rest"
            " as a crawl, and prints for each method how many URLs it fetches and which contents it loses."
            " Nothing is fetched or written."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        group = parser.add_argument_group(title="Evaluation")
        group.add_argument(
            "--truth",
            metavar="exact|strict|simhash|FIELD",
            help="the field of the log that is equal for URLs of one page: cluster_exact, cluster_strict or FIELD; simhash:"
            " simhashes within three bits and equal titles make one page (default: cluster_exact if the log has it,"
            " else text_digest)",
        )
        group.add_argument(
            "--labels",
            metavar="exact|strict|simhash|FIELD",
            help="the field that all methods learn from, named as in --truth (default: each compares pages in its own way)",
        )
        group.add_argument(
            "--beta",
            metavar="B",
            default="1",
            help="F weighs recall B times as much as precision (default: 1, which is F1)",
        )
        group.add_argument(
            "--train", metavar="SHARE", default="0.75", help="the share to learn from (default: 0.75)"
        )
        group.add_argument(
            "--methods",
            metavar="A,B,…",
            help="the methods to compare (default: all but seq2seq): keepall, dust, …",
        )
        group.add_argument(
            "--split",
            **one_of("split", ("log", "cluster", "host")),
            default="log",
            help="learn from the first URLs of each site (log), or from some contents or hosts with all their"
            " URLs (default: log)",
        )
        group.add_argument(
            "--order",
            **one_of("order", ("log", "random")),
            default="log",
            help="the order in which the other URLs are replayed (default: log)",
        )
        group.add_argument("--seed", metavar="N", default="0", help="the seed of random choices (default: 0)")
        group.add_argument(
            "--seeds",
            metavar="N",
            default="1",
            help="print means over N runs, with seeds from --seed on (default: 1)",
        )
        group.add_argument(
            "--normalization",
            action="store_true",
            help="print the measures of URL normalization too: consistency, applying, reduction and true-positive rate",
        )
        group.add_argument(
            "--online",
            action="store_true",
            help="replay the log as a first crawl that learns while it goes on, from its first URL on; --methods then"
            " are keepall, maybedont, online, offline (what a second crawl knows) and oracle",
        )
        group.add_argument("--json", action="store_true", help="print one JSON object a method")

    def prepared(self, args: list[str], opts: argparse.Namespace, stack: ExitStack) -> Callable[[], None]:
        """The evaluation that was typed, ready to run."""
        from scrapy_dust.commands.evaluating import evaluation_of  # noqa: PLC0415

        assert self.settings is not None
        return evaluation_of(self.settings, args, opts).run
