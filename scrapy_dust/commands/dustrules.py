"""``scrapy dustrules``: look after the rule book.

Only the standard library and Scrapy's own command class are imported here: every ``scrapy`` command imports
this module to list it.
"""

from __future__ import annotations

import argparse
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, ClassVar

from scrapy_dust.commands.actions import Action, ActionCommand
from scrapy_dust.commands.suggestions import one_of

if TYPE_CHECKING:
    from scrapy_dust.commands.context import Context


IMPORTS = ("json", "csv", "dud", "clearurls", "clean-param", "no-vary-search", "regex")
EXPORTS = ("json", "csv", "dud", "clean-param", "no-vary-search", "nginx", "apache", "regex")


class Command(ActionCommand):
    name = "dustrules"
    subject = "the rule book"
    actions: ClassVar[dict[str, Action]] = {
        "list": Action("", "the rules, a line each", "reviewing:list_rules"),
        "show": Action("[ID ...]", "rules with all their evidence", "reviewing:show"),
        "explain": Action(
            "URL",
            "the key of a URL, the rules that make the key, and what crawls did with the URL",
            "reviewing:explain",
        ),
        "keys": Action(
            "[FILE|-]",
            "key<TAB>URL for each URL of a file or stdin; URLs of one key are fetched once",
            "reviewing:keys",
        ),
        "test": Action(
            "FILE",
            "check expectations, a line each: 'URL, URL, same' or 'URL, URL, different'",
            "reviewing:test",
        ),
        "disable": Action(
            "ID ...",
            "never apply these rules again, nor others that dustmine finds for the same URLs",
            "changing:disable",
        ),
        "enable": Action("ID ...", "apply these rules again", "changing:enable"),
        "forget": Action("ID ...", "take these rules and their evidence out of the book", "changing:forget"),
        "requeue": Action(
            "ID ...",
            "print the URLs that these rules suppressed, and have the next crawl fetch them",
            "journals:requeue",
            options=("--spider", "--dry-run"),
        ),
        "import": Action(
            "FILE|-",
            "take in rules of another program, on probation: they are applied once a crawl or dustmine has proved them",
            "exchanging:import_rules",
            options=("--format", "--site", "--dry-run"),
        ),
        "migrate": Action(
            "", "bring rule books of an older version to the format of this one", "exchanging:migrate"
        ),
        "merge": Action(
            "FILE ...",
            "add the rules of other books, or of the parts that dustmine --shard made, to this one",
            "exchanging:merge",
            options=("--dry-run",),
        ),
        "advise": Action(
            "[LOG ...]",
            "advice for the owner of a site, and the requests (of access logs) that it would save",
            "advising:advise",
            options=("--site", "--base-url"),
        ),
        "volatile": Action(
            "[SITE]",
            "the places of pages that change at each fetch, and so do not count in comparisons",
            "volatile_places:volatile",
        ),
        "export": Action(
            "FORMAT",
            f"print the rules in force as {', '.join(EXPORTS)}",
            "exchanging:export_rules",
            EXPORTS,
            options=("--site",),
        ),
    }
    examples = (
        "scrapy dustrules list",
        "scrapy dustrules explain 'https://www.example.org/?id=7&sid=b'",
        "scrapy dustrules keys urls.txt             URLs of one key are fetched once",
        "scrapy dustrules test expected.csv         in a project's own CI",
        "scrapy dustrules import robots.txt --site www.example.org",
        "scrapy dustrules export nginx > dust.conf",
        "scrapy dustrules advise access.log --base-url https://www.example.org",
    )

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

    def context(self, opts: argparse.Namespace) -> AbstractContextManager[Context]:
        """The rule books that the options name, and the form of answers."""
        from scrapy_dust.commands.context import context_of  # noqa: PLC0415

        assert self.settings is not None
        return nullcontext(context_of(self.settings, opts.rules, as_json=opts.json))
