"""``scrapy dustrules``: look after the rule book.

Only the standard library and Scrapy's own command class are imported here: every ``scrapy`` command imports
this module to list it.
"""

from __future__ import annotations

import argparse
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, ClassVar

from scrapy_dust.commands.actions import Action, ActionCommand
from scrapy_dust.commands.examples import add_examples
from scrapy_dust.commands.suggestions import one_of

if TYPE_CHECKING:
    from scrapy_dust.commands.context import Context


IMPORTS = ("json", "csv", "dud", "clearurls", "clean-param", "no-vary-search", "regex")
EXPORTS = ("json", "csv", "dud", "clean-param", "no-vary-search", "nginx", "apache", "regex")


class Command(ActionCommand):
    name = "dustrules"
    subject = "the rule book"
    actions: ClassVar[dict[str, Action]] = {
        "list": Action("", 0, 0, "the rules, a line each"),
        "show": Action("[ID ...]", 0, None, "rules with all their evidence"),
        "explain": Action(
            "URL", 1, 1, "the key of a URL, the rules that make the key, and what crawls did with the URL"
        ),
        "keys": Action(
            "[FILE|-]",
            0,
            1,
            "key<TAB>URL for each URL of a file or stdin; URLs of one key are fetched once",
        ),
        "test": Action(
            "FILE", 1, 1, "check expectations, a line each: 'URL, URL, same' or 'URL, URL, different'"
        ),
        "disable": Action("ID ...", 1, None, "never apply these rules again"),
        "enable": Action("ID ...", 1, None, "apply these rules again"),
        "forget": Action("ID ...", 1, None, "take these rules and their evidence out of the book"),
        "requeue": Action(
            "ID ...",
            1,
            None,
            "print the URLs that these rules suppressed, and have the next crawl fetch them",
            options=("--spider", "--dry-run"),
        ),
        "import": Action(
            "FILE|-",
            1,
            1,
            "take in rules of another program, on probation: they are applied once a crawl or dustmine has proved them",
            options=("--format", "--site", "--dry-run"),
        ),
        "migrate": Action("", 0, 0, "bring rule books of an older version to the format of this one"),
        "merge": Action(
            "FILE ...",
            1,
            None,
            "add the rules of other books, or of the parts that dustmine --shard made, to this one",
            options=("--dry-run",),
        ),
        "advise": Action(
            "[LOG ...]",
            0,
            None,
            "advice for the owner of a site, and the requests (of access logs) that it would save",
            options=("--site", "--base-url"),
        ),
        "volatile": Action(
            "[SITE]",
            0,
            1,
            "the places of pages that change at each fetch, and so do not count in comparisons",
        ),
        "export": Action(
            "FORMAT",
            1,
            1,
            f"print the rules in force as {', '.join(EXPORTS)}",
            EXPORTS,
            options=("--site",),
        ),
    }

    def short_desc(self) -> str:
        return "List, explain, test and switch the rules of scrapy-dust"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        group = parser.add_argument_group(title="Rules")
        group.add_argument("--rules", metavar="PATH", help="the rule book (default: those of DUST_RULES)")
        group.add_argument(
            "--spider", metavar="NAME", help="requeue: only URLs that crawls of this spider suppressed"
        )
        group.add_argument(
            "--format",
            **one_of("format", ("auto", *IMPORTS)),
            default="auto",
            help="import: the format of the file (default: auto)",
        )
        group.add_argument(
            "--site",
            metavar="HOST",
            action="append",
            default=[],
            help="import: where rules are meant that name no site (default: the book's sites); export: only this"
            " site; may be given several times",
        )
        group.add_argument(
            "--base-url", metavar="URL", help="advise: the site of access logs that name no host"
        )
        group.add_argument(
            "--dry-run", action="store_true", help="requeue, import, merge: print it, and do nothing else"
        )
        group.add_argument("--json", action="store_true", help="print JSON, an object a line")
        add_examples(
            parser,
            (
                "scrapy dustrules list",
                "scrapy dustrules explain 'https://www.example.org/?id=7&sid=b'",
                "scrapy dustrules keys urls.txt             URLs of one key are fetched once",
                "scrapy dustrules test expected.csv         in a project's own CI",
                "scrapy dustrules import robots.txt --site www.example.org",
                "scrapy dustrules export nginx > dust.conf",
                "scrapy dustrules advise access.log --base-url https://www.example.org",
            ),
        )

    def context(self, opts: argparse.Namespace) -> AbstractContextManager[Context]:
        from scrapy_dust.commands.context import context_of  # noqa: PLC0415

        assert self.settings is not None
        return nullcontext(context_of(self.settings, opts.rules, as_json=opts.json))

    def act(self, context: Context, action: str, arguments: list[str], opts: argparse.Namespace) -> int:
        from scrapy_dust.commands import changing  # noqa: PLC0415
        from scrapy_dust.rule_book import Status  # noqa: PLC0415

        match action, arguments:
            case "list" | "show" | "explain" | "keys" | "test" | "volatile", names:
                return _review(context, action, names)
            case "forget", ids:
                changing.forget(context, ids)
            case "requeue", ids:
                from scrapy_dust.commands.journals import requeue  # noqa: PLC0415

                requeue(context, ids, spider=opts.spider, dry_run=opts.dry_run)
            case "import" | "export" | "merge" | "migrate" | "advise", names:
                _travel(context, action, names, opts)
            case _, ids:
                changing.set_status(context, ids, Status.DISABLED if action == "disable" else Status.VALID)
        return 0


def _review(context: Context, action: str, names: list[str]) -> int:
    """Run an action that changes nothing. Returns the exit status."""
    from scrapy_dust.commands import reviewing, volatile  # noqa: PLC0415

    match action:
        case "list":
            reviewing.list_rules(context)
        case "show":
            reviewing.show(context, names)
        case "explain":
            reviewing.explain(context, names[0])
        case "keys":
            reviewing.keys(context, *names)
        case "volatile":
            volatile.volatile(context, *names)
        case _:
            return reviewing.test(context, names[0])
    return 0


def _travel(context: Context, action: str, names: list[str], opts: argparse.Namespace) -> None:
    from scrapy_dust.commands import advising, exchanging  # noqa: PLC0415

    match action:
        case "export":
            exchanging.export_rules(context, names[0], opts.site)
        case "migrate":
            exchanging.migrate(context)
        case "merge":
            exchanging.merge(context, names, dry_run=opts.dry_run)
        case "advise":
            advising.advise(context, names, opts.site, opts.base_url)
        case _:
            exchanging.import_rules(
                context, names[0], opts.site, format_name=opts.format, dry_run=opts.dry_run
            )
