"""The commands, actions and options that can be typed after ``scrapy``, read from where they are
declared. Shells complete by them.
"""

from __future__ import annotations

import argparse
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from importlib import import_module

import scrapy.commands
from scrapy.settings import Settings

from scrapy_dust.commands.actions import ActionCommand
from scrapy_dust.settings import DustSettings, setting_name

#: Our commands, by name; each module has a class ``Command``.
OURS = ("dustcompletion", "dusteval", "dustmine", "dustpages", "dustrules")

#: What a value or an argument is called that is a file.
_FILES = ("FILE", "FILE.html", "LOG", "PATH", "STORE")
_LEVELS = ("CRITICAL", "ERROR", "WARNING", "INFO", "DEBUG")


class Kind(Enum):
    """The kinds of words that can follow on a command line."""

    NOTHING = "nothing"
    ANYTHING = "anything"
    FILE = "file"
    NAME = "name"  #: one of those that are known
    SETTING = "setting"


@dataclass(frozen=True, slots=True)
class Value:
    """The value that an option or an action takes."""

    kind: Kind
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Option:
    """One option, with all its names."""

    names: tuple[str, ...]
    help: str  #: what it does
    value: Value
    metavar: str | None = None  #: what its value is called

    @property
    def said(self) -> str:
        """The beginning of the option's help, for the shell's list."""
        return self.help.partition(" (")[0].partition(";")[0]


@dataclass(frozen=True, slots=True)
class Offered:
    """One command, with its actions and options."""

    name: str
    said: str
    options: tuple[Option, ...]
    #: What each does, and what comes after it; none: the command is one.
    actions: Mapping[str, tuple[str, Value]]
    argument: Value  #: of a command without actions


def offered() -> tuple[Offered, ...]:
    """All commands of scrapy-dust."""
    return tuple(_command_named(name) for name in OURS)


def scrapy_commands() -> tuple[str, ...]:
    """The names of Scrapy's own commands."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(scrapy.commands.__path__)))


def settings() -> tuple[str, ...]:
    """The names of all settings."""
    return tuple(sorted(setting_name(name) for name in DustSettings.__dataclass_fields__))


def _command_named(name: str) -> Offered:
    """The command in the module *name*, with its actions and options."""
    command = import_module(f"scrapy_dust.commands.{name}").Command()
    command.settings = Settings()
    parser = argparse.ArgumentParser(prog=name, conflict_handler="resolve")
    command.add_options(parser)
    actions = command.actions if isinstance(command, ActionCommand) else {}
    return Offered(
        name,
        command.short_desc(),
        tuple(_options(parser)),
        {
            action: (said.what, Value(Kind.NAME, said.names) if said.names else _value_of_syntax(said.syntax))
            for action, said in actions.items()
        },
        _value_of_syntax(command.syntax()),
    )


def _options(parser: argparse.ArgumentParser) -> Iterator[Option]:
    """The options of *parser* that its help shows."""
    for action in parser._actions:
        if action.option_strings and action.help is not argparse.SUPPRESS:
            metavar = action.metavar if isinstance(action.metavar, str) else None
            said = (action.help or "").replace("%%", "%")
            yield Option(tuple(action.option_strings), said, _value_of_option(action), metavar)


def _value_of_option(action: argparse.Action) -> Value:
    """The kind of value that an option, given as `argparse` has it, takes."""
    if action.nargs == 0:
        return Value(Kind.NOTHING)
    if action.choices is not None:
        return Value(Kind.NAME, tuple(map(str, action.choices)))
    if action.dest == "loglevel":
        return Value(Kind.NAME, _LEVELS)
    if action.dest == "set":
        return Value(Kind.SETTING)
    return Value(Kind.FILE if action.metavar in _FILES else Kind.ANYTHING)


def _value_of_syntax(syntax: str) -> Value:
    """The kind of value that follows a command or an action with this *syntax*, such as ``FILE ...``."""
    words = syntax.replace("[", " ").replace("]", " ").replace("|", " ").split()
    if any(word in _FILES for word in words):
        return Value(Kind.FILE)
    names = [word for word in words if word.isupper()]
    return Value(Kind.ANYTHING if names else Kind.NOTHING)
