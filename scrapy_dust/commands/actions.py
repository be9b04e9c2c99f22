"""The base of our commands; and a command that does one of several things, named by its first argument.

Only the standard library and Scrapy's own command class are imported here: every ``scrapy`` command imports
this module to list ours.
"""

from __future__ import annotations

import argparse
import sys
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

from scrapy.commands import ScrapyCommand, ScrapyHelpFormatter
from scrapy.exceptions import UsageError

from scrapy_dust.commands.suggestions import no_such, unrecognized


class _WithExamples(ScrapyHelpFormatter):
    """Scrapy's formatter of help, which leaves the lines of examples as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """The *text* broken into the lines of the help; examples keep the lines that they have."""
        return text if text.startswith("Examples") else super()._fill_text(text, width, indent)


class DustCommand(ScrapyCommand):
    """A command whose errors are one sentence each. *examples* stand at the end of its ``--help``, one a line."""

    requires_project = False
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_LEVEL": "WARNING"}

    name: ClassVar[str]
    examples: ClassVar[Sequence[str]]
    interrupted: ClassVar[str] = "interrupted."  #: what Ctrl-C leaves

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add Scrapy's own options, and the examples at the end of the help."""
        super().add_options(parser)
        self._parser = parser
        parser.formatter_class = _WithExamples
        parser.epilog = "\n".join(["Examples", "========", *(f"  {example}" for example in self.examples)])

    @abstractmethod
    def prepared(
        self, args: list[str], opts: argparse.Namespace, stack: ExitStack
    ) -> Callable[[], int | None]:
        """The function that does the work that was typed, and returns the exit status; *stack* is closed after it.

        Raises `ValueError` for a wrong setting or option; both raise `DustError`.
        """

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the command for Scrapy. Ctrl-C and options that the command does not have end it with a sentence."""
        unknown = unrecognized(args, self._parser)
        if unknown:
            raise UsageError(unknown, print_help=False)
        try:
            self._run_or_say_why_not(args, opts)
        except KeyboardInterrupt:
            print(f"scrapy {self.name}: {self.interrupted}", file=sys.stderr)

    def _run_or_say_why_not(self, args: list[str], opts: argparse.Namespace) -> None:
        """Do the work that was typed, and set the exit status. Errors become a sentence on stderr."""
        self.exitcode = 1
        from scrapy_dust.commands.output import accept_any_text, printable, stop_output  # noqa: PLC0415
        from scrapy_dust.errors import DustError  # noqa: PLC0415

        accept_any_text()
        try:
            with ExitStack() as stack:
                try:
                    work = self.prepared(args, opts, stack)
                except ValueError as error:  # a setting or an option that cannot be meant
                    raise UsageError(str(error), print_help=False) from None
                done = work()
            sys.stdout.flush()
            self.exitcode = done or 0
        except DustError as error:
            print(f"scrapy {self.name}: {printable(str(error))}", file=sys.stderr)
        except OSError as error:
            stop_output(self.name, error)


class Action(NamedTuple):
    """One action of a command, such as ``list`` or ``explain``."""

    syntax: str  #: of what stands after its name: nothing, one word or ``WORD ...``, in brackets if it may be missing
    what: str  #: it does
    of: str = ""  #: the function that does it, as ``module:name`` in this room; else a method of the context
    names: tuple[str, ...] = ()  #: that its argument may be, where these are known
    options: tuple[str, ...] = ()  #: that it takes, of those that only some actions take

    def takes(self, count: int) -> bool:
        """Whether *count* arguments may stand after the action's name."""
        least = bool(self.syntax) and not self.syntax.startswith("[")
        return least <= count and (self.syntax.endswith(("...", "...]")) or count <= bool(self.syntax))


class ActionCommand(DustCommand):
    """A command with actions. *subject*: the thing that it looks after."""

    subject: ClassVar[str]
    actions: ClassVar[dict[str, Action]]

    def syntax(self) -> str:
        return f"<{'|'.join(self.actions)}> [options] [args]"

    def long_desc(self) -> str:
        told = (
            f"{name} {action.syntax}".rstrip() + f": {action.what}" for name, action in self.actions.items()
        )
        return f"Looks after {self.subject}. {'; '.join(told)}."

    @abstractmethod
    def context(self, opts: argparse.Namespace) -> AbstractContextManager[Any]:
        """The context that all actions share. Raises `ValueError` for a wrong setting or option."""

    def prepared(
        self, args: list[str], opts: argparse.Namespace, stack: ExitStack
    ) -> Callable[[], int | None]:
        """The action that was typed, with the context that all actions share."""
        name, arguments = self._typed_action(args, opts)
        context = stack.enter_context(self.context(opts))
        return lambda: self.act(context, name, arguments, opts)

    def act(self, context: Any, name: str, arguments: list[str], opts: argparse.Namespace) -> int | None:
        """Run the action *name*: its function is given the context, the arguments, and its own options by their names."""
        action = self.actions[name]
        options = {one: getattr(opts, one) for one in map(_attribute_of, action.options)}
        if not action.of:
            getattr(context, name)(*arguments)
            return 0
        module, _, function = action.of.partition(":")
        found: Callable[..., int | None] = getattr(import_module(f"scrapy_dust.commands.{module}"), function)
        return found(context, *arguments, **options)

    def _typed_action(self, args: list[str], opts: argparse.Namespace) -> tuple[str, list[str]]:
        """The name of the action that was typed, and its arguments. Raises `UsageError` where they do not fit."""
        if not args:
            raise UsageError(f"say what to do: {', '.join(self.actions)}", print_help=False)
        name, *arguments = args
        if name not in self.actions:
            raise UsageError(no_such("action", name, self.actions), print_help=False)
        action = self.actions[name]
        if not action.takes(len(arguments)):
            usage = f"scrapy {self.name} {name} {action.syntax}".rstrip()
            raise UsageError(f"{name!r} got {len(arguments)} arguments. Use: {usage}", print_help=False)
        for option in self._not_taken(action, opts):
            raise UsageError(f"{name!r} takes no {option}. Leave it out.", print_help=False)
        return name, arguments

    def _not_taken(self, action: Action, opts: argparse.Namespace) -> Iterator[str]:
        """The options on the command line that *action* does not take, so that none is ignored in silence."""
        of_some = {option for one in self.actions.values() for option in one.options}
        for option in sorted(of_some - set(action.options)):
            if getattr(opts, _attribute_of(option)) != self._parser.get_default(_attribute_of(option)):
                yield option


def _attribute_of(option: str) -> str:
    """The attribute that has the value of *option*, such as ``dry_run`` for ``--dry-run``."""
    return option.removeprefix("--").replace("-", "_")
