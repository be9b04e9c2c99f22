"""``scrapy dustmine``: from a crawl log to a rule book.

Only the standard library and Scrapy's own command class are imported here: every ``scrapy`` command imports
this module to list it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import ExitStack

from scrapy_dust.commands.actions import DustCommand
from scrapy_dust.commands.ctrl_c import heeding_ctrl_c
from scrapy_dust.commands.suggestions import one_of

FORMATS = (
    *("auto", "dust", "jsonl", "csv", "parquet", "combined", "common", "access-json"),
    *("alb", "elb", "s3", "haproxy", "envoy", "squid", "traefik", "w3c"),
    *("cdx", "cdxj", "cc-index", "warc", "heritrix", "nutch"),
)


class Command(DustCommand):
    name = "dustmine"
    interrupted = "interrupted; the rule book is whole: the old one or the new one."
    examples = (
        "scrapy dustmine                            the project's own log: mine, validate, write the rule book",
        "scrapy dustmine --no-validate --dry-run    what the log alone proves; nothing is fetched or written",
        "scrapy dustmine --report report.html       a report for the browser, too",
        "scrapy dustmine access.log --base-url https://www.example.org --budget 200",
        "scrapy dustmine crawl.jsonl.gz --phase likely --json",
        "scrapy dustmine --shard 1/4                this quarter of the sites; others can mine theirs meanwhile",
    )

    def syntax(self) -> str:
        return "[options] [LOG ...]"

    def short_desc(self) -> str:
        return "Mine a crawl log for URLs that show the same page, and validate the rules"

    def long_desc(self) -> str:
        return (
            "Reads the project's own crawl log, or the logs given, finds rules by which different URLs of a"
            " site show the same page, validates them with few fetches, and writes the rule book."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        group = parser.add_argument_group(title="Mining")
        group.add_argument("--spider", metavar="NAME", help="mine this spider's log, with its settings")
        group.add_argument("--site", metavar="HOST", help="only this host and the hosts below it")
        group.add_argument(
            "--format",
            **one_of("format", FORMATS),
            default="auto",
            help="the format of the logs (default: auto)",
        )
        group.add_argument(
            "--base-url",
            metavar="URL",
            help="the site of access logs that name no host, such as https://www.example.org",
        )
        group.add_argument(
            "--log-format",
            metavar="STRING",
            help="the format of access logs: the string after Apache's LogFormat or nginx's log_format",
        )
        group.add_argument(
            "--phase",
            **one_of("phase", ("likely", "kept", "valid")),
            default="valid",
            help="stop after phase 1 (likely: all rules that the URLs suggest) or 2 (kept: without redundant ones) and print"
            " the rules; nothing is fetched or written",
        )
        group.add_argument(
            "--learner",
            **one_of("learner", ("both", "dustbuster", "dust", "seq2seq")),
            help="who proposes rules: dustbuster (the papers), dust (ours), both, or seq2seq (both, and a neural network); all"
            " rules are validated (DUST_LEARNER)",
        )
        _add_validation(group)
        # Scrapy's own option of this name, which profiles Python, asks for a file.
        parser.set_defaults(profile=None)

    def prepared(self, args: list[str], opts: argparse.Namespace, stack: ExitStack) -> Callable[[], None]:
        """The run of mining that was typed, ready to start."""
        with heeding_ctrl_c():
            from scrapy_dust.commands.mining_options import job_of  # noqa: PLC0415

        assert self.settings is not None
        return job_of(self.settings, args, opts).run


def _add_validation(group: argparse._ArgumentGroup) -> None:
    """Add the options of how rules are validated, and of what is written, to *group*."""
    group.add_argument(
        "--no-validate", action="store_true", help="fetch nothing: accept what the log alone proves"
    )
    group.add_argument(
        "--validate-on",
        metavar="OTHER",
        help="try the rules on the URLs of another log of the site, in the same format",
    )
    group.add_argument("--budget", metavar="N", help="fetches to spend at most (DUST_VALIDATION_BUDGET)")
    group.add_argument(
        "--rules", metavar="PATH", help="the rule book to write (default: first of DUST_RULES)"
    )
    group.add_argument(
        "--report", metavar="FILE.html", help="write a report too: one HTML file for a browser"
    )
    group.add_argument(
        "--engine",
        **one_of("engine", ("local", "spark")),
        default="local",
        help="where logs are read and sites mined (default: local, this machine)",
    )
    group.add_argument(
        "--shard",
        metavar="I/N",
        help="mine the I-th of N parts of the sites, into a file beside the rule book; `scrapy dustrules merge` makes one book of all",
    )
    group.add_argument("--dry-run", action="store_true", help="write nothing")
    group.add_argument("--json", action="store_true", help="print JSON")
    group.add_argument(
        "--profile",
        action="store_true",
        dest="profiled",
        help="show what each phase took, in time and memory, on stderr",
    )
