"""A command that does one of several things, named by its first argument: ``scrapy dustrules list``.

Only the standard library and Scrapy's own command class are imported here: every ``scrapy`` command imports
this module to list such commands.
"""

from __future__ import annotations

import argparse
import sys
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from typing import Any, ClassVar, NamedTuple

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from scrapy_dust.commands.suggestions import no_such, unrecognized


class Action(NamedTuple):
    """One action of a command, such as ``list`` or ``explain``."""

    syntax: str  #: of what stands after its name
    least: int  #: so many arguments there must be
    most: int | None  #: and may be
    what: str  #: it does
    names: tuple[str, ...] = ()  #: that its argument may be, where these are known
    options: tuple[str, ...] = ()  #: that it takes, of those that only some actions take


class ActionCommand(ScrapyCommand):
    """A command with actions. *name*: the command's name; *subject*: the thing that it looks after."""

    requires_project = False
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_LEVEL": "WARNING"}

    name: ClassVar[str]
    subject: ClassVar[str]
    actions: ClassVar[dict[str, Action]]

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        self._parser = parser

    def syntax(self) -> str:
        return f"<{'|'.join(self.actions)}> [options] [args]"

    def long_desc(self) -> str:
        told = (
            f"{name} {action.syntax}".rstrip() + f": {action.what}" for name, action in self.actions.items()
        )
        return f"Looks after {self.subject}. {'; '.join(told)}."

    @abstractmethod
    def context(self, opts: argparse.Namespace) -> AbstractContextManager[Any]:
        """The context that all actions of the command share. Raises `ValueError` for a wrong setting or
        option.
        """

    @abstractmethod
    def act(self, context: Any, action: str, arguments: list[str], opts: argparse.Namespace) -> int:
        """Run the action that was typed. Returns the exit status. Raises `DustError`."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        action, arguments = self._chosen(args, opts)
        from scrapy_dust.commands.output import accept_any_text, printable, stop_output  # noqa: PLC0415
        from scrapy_dust.errors import DustError  # noqa: PLC0415

        accept_any_text()
        self.exitcode = 1
        try:
            with ExitStack() as opened:
                try:
                    context = opened.enter_context(self.context(opts))
                except ValueError as error:
                    raise UsageError(str(error), print_help=False) from None
                done = self.act(context, action, arguments, opts)
            sys.stdout.flush()
            self.exitcode = done
        except DustError as error:
            print(f"scrapy {self.name}: {printable(str(error))}", file=sys.stderr)
        except OSError as error:
            stop_output(self.name, error)
        except KeyboardInterrupt:
            print(f"scrapy {self.name}: interrupted.", file=sys.stderr)

    def _chosen(self, args: list[str], opts: argparse.Namespace) -> tuple[str, list[str]]:
        unknown = unrecognized(args, self._parser)
        if unknown:
            raise UsageError(unknown, print_help=False)
        if not args:
            raise UsageError(f"say what to do: {', '.join(self.actions)}", print_help=False)
        name, *arguments = args
        if name not in self.actions:
            raise UsageError(no_such("action", name, self.actions), print_help=False)
        action = self.actions[name]
        if len(arguments) < action.least or (action.most is not None and len(arguments) > action.most):
            usage = f"scrapy {self.name} {name} {action.syntax}".rstrip()
            raise UsageError(f"{name!r} got {len(arguments)} arguments. Use: {usage}", print_help=False)
        for option in self._not_taken(action, opts):
            raise UsageError(f"{name!r} takes no {option}. Leave it out.", print_help=False)
        return name, arguments

    def _not_taken(self, action: Action, opts: argparse.Namespace) -> Iterator[str]:
        """The options on the command line that *action* does not take, so that none is ignored in silence."""
        of_some = {option for one in self.actions.values() for option in one.options}
        for option in sorted(of_some - set(action.options)):
            name = option.removeprefix("--").replace("-", "_")
            if getattr(opts, name) != self._parser.get_default(name):
                yield option
