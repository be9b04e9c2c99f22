"""Makes completion scripts for bash, zsh and fish, with all that the commands declare.

No script starts Scrapy while somebody types. A completion for ``scrapy`` that was there before still completes its
own commands; without one, Scrapy's commands are offered beside ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scrapy_dust.commands.declared_commands import (
    Kind,
    Offered,
    Option,
    Value,
    offered,
    scrapy_commands,
    settings,
)

_BASH = r"""# Completion of scrapy-dust for bash. In ~/.bashrc: eval "$(scrapy dustcompletion bash)"
if ! complete -p scrapy &>/dev/null && declare -F _completion_loader &>/dev/null; then
    _completion_loader scrapy &>/dev/null
fi
if [[ $(complete -p scrapy 2>/dev/null) =~ \ -F\ ([^\ ]+) && ${BASH_REMATCH[1]} != _scrapy_dust ]]; then
    _scrapy_dust_earlier=${BASH_REMATCH[1]}
fi

_scrapy_dust() {
    local IFS=$'\n' word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]-}
    local at action='' options='' actions='' names='' kind='' taking=''
    # --option=value comes in three words.
    if [[ $word == = ]]; then word=; elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]-}; fi
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        if [[ -n ${_scrapy_dust_earlier-} ]]; then
            "$_scrapy_dust_earlier" "$@"
            COMPREPLY+=($(compgen -W @OURS@ -- "$word"))
        else
            COMPREPLY=($(compgen -W @ALL@ -- "$word"))
        fi
        return
    fi
    case $command in
@COMMANDS@
    *)
        if [[ -n ${_scrapy_dust_earlier-} ]]; then "$_scrapy_dust_earlier" "$@"; fi
        return
        ;;
    esac
    for ((at = 2; at < COMP_CWORD; at++)); do
        if [[ -z $action && ${COMP_WORDS[at]} != -* && ${COMP_WORDS[at]} != = && $'\n'$taking$'\n' != *$'\n'"${COMP_WORDS[at-1]}"$'\n'* ]]; then
            action=${COMP_WORDS[at]}
        fi
    done
    case "$command $before" in
@VALUES@
    esac
    if [[ -z $kind ]]; then
        if [[ $word == -* ]]; then
            kind=name names=$options
        elif [[ -n $actions && -z $action ]]; then
            kind=name names=$actions
        else
            case "$command $action" in
@ARGUMENTS@
            esac
        fi
    fi
    case $kind in
    name) COMPREPLY=($(compgen -W "$names" -- "$word")) ;;
    setting)
        compopt -o nospace 2>/dev/null
        COMPREPLY=($(compgen -W @SETTINGS@ -- "$word"))
        ;;
    file)
        compopt -o filenames 2>/dev/null
        COMPREPLY=($(compgen -f -- "$word"))
        ;;
    esac
}
complete -F _scrapy_dust scrapy
"""


def bash() -> str:
    """The script by which bash completes our commands."""
    commands = offered()
    arguments = []
    for one in commands:
        if not one.actions:
            arguments.append(f"            {one.name}\\ *) {_bash_value(one.argument)} ;;")
        arguments += [
            f'            "{one.name} {action}") {_bash_value(value)} ;;'
            for action, (_, value) in one.actions.items()
        ]
    values = [
        "    "
        + "|".join(f'"{one.name} {name}"' for name in option.names)
        + f") {_bash_value(option.value)} ;;"
        for one in commands
        for option in one.options
        if option.value.kind is not Kind.NOTHING
    ]
    parts = {
        "@OURS@": _bash_lines(one.name for one in commands),
        "@ALL@": _bash_lines([*(one.name for one in commands), *scrapy_commands()]),
        "@COMMANDS@": "\n".join(map(_bash_command, commands)),
        "@VALUES@": "\n".join(values),
        "@ARGUMENTS@": "\n".join(arguments),
        "@SETTINGS@": _bash_lines(f"{name}=" for name in settings()),
    }
    script = _BASH
    for place, part in parts.items():
        script = script.replace(place, part)
    return script


def _bash_command(one: Offered) -> str:
    """The branch of the bash script that completes the words after one command."""
    names = [name for option in one.options for name in option.names]
    taking = [
        name for option in one.options if option.value.kind is not Kind.NOTHING for name in option.names
    ]
    return f"    {one.name}) options={_bash_lines(names)} taking={_bash_lines(taking)} actions={_bash_lines(one.actions)} ;;"


def _bash_value(value: Value) -> str:
    """The assignments by which the bash script knows what to offer for *value*."""
    return f"kind={value.kind.value}" + (f" names={_bash_lines(value.names)}" if value.names else "")


def _bash_lines(names: Iterable[str]) -> str:
    """*names*, a line each, as a literal of bash."""
    return "$'" + r"\n".join(names) + "'"


_ZSH = r"""#compdef scrapy
# Completion of scrapy-dust for zsh. In ~/.zshrc, after compinit: eval "$(scrapy dustcompletion zsh)"
if [[ ${_comps[scrapy]-} != _scrapy_dust ]]; then
    typeset -g _scrapy_dust_earlier=${_comps[scrapy]-}
fi

_scrapy_dust() {
    local -a ours scrapys actions
    local curcontext=$curcontext state line
    typeset -A opt_args
    ours=(@OURS@)
    scrapys=(@OTHERS@)
    if (( CURRENT == 2 )); then
        if [[ -n $_scrapy_dust_earlier ]]; then
            $_scrapy_dust_earlier "$@"
        else
            _describe -t commands 'command of Scrapy' scrapys
        fi
        _describe -t dust-commands 'command of scrapy-dust' ours
        return
    fi
    case $words[2] in
@COMMANDS@
    *)
        if [[ -n $_scrapy_dust_earlier ]]; then $_scrapy_dust_earlier "$@"; else _default; fi
        ;;
    esac
}

_scrapy_dust_settings() {
    compadd -S = @SETTINGS@
}
compdef _scrapy_dust scrapy
"""


def zsh() -> str:
    """The script by which zsh completes our commands."""
    commands = offered()
    parts = {
        "@OURS@": " ".join(_quoted(f"{one.name}:{one.said}") for one in commands),
        "@OTHERS@": " ".join(scrapy_commands()),
        "@COMMANDS@": "\n".join(map(_zsh_command, commands)),
        "@SETTINGS@": " ".join(settings()),
    }
    script = _ZSH
    for place, part in parts.items():
        script = script.replace(place, part)
    return script


def _zsh_command(one: Offered) -> str:
    """The branch of the zsh script that completes the words after one command."""
    specs = [spec for option in one.options for spec in _zsh_option(option)]
    rest = (
        [_quoted("1: :->action"), _quoted("*: :->argument")]
        if one.actions
        else [_quoted(f"*: :{_zsh_value(one.argument)}")]
    )
    lines = [f"    {one.name})", "        shift words; (( CURRENT-- ))"]
    lines.append("        _arguments -C -S : " + " \\\n            ".join([*specs, *rest]))
    if one.actions:
        told = " ".join(_quoted(f"{action}:{said}") for action, (said, _) in one.actions.items())
        lines += ["        case $state in", "        action)", f"            actions=({told})"]
        lines += ["            _describe -t actions action actions", "            ;;", "        argument)"]
        lines.append("            case $line[1] in")
        lines += [
            f"            {action}) {_zsh_action(value)} ;;"
            for action, (_, value) in one.actions.items()
            if value.kind in (Kind.FILE, Kind.NAME)
        ]
        lines += ["            esac", "            ;;", "        esac"]
    return "\n".join([*lines, "        ;;"])


def _zsh_option(option: Option) -> Iterator[str]:
    """The arguments of zsh's ``_arguments`` that complete *option*, one for each of its names."""
    said = option.said.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")
    for name in option.names:
        if option.value.kind is Kind.NOTHING:
            yield _quoted(f"{name}[{said}]")
        else:
            joined = "=" if name.startswith("--") else "+"
            yield _quoted(f"{name}{joined}[{said}]: :{_zsh_value(option.value)}")


def _zsh_value(value: Value) -> str:
    """The part of an argument of zsh's ``_arguments`` that says what to offer for *value*."""
    match value.kind:
        case Kind.NAME:
            return f"({' '.join(value.names)})"
        case Kind.FILE:
            return "_files"
        case Kind.SETTING:
            return "_scrapy_dust_settings"
        case _:
            return " "


def _zsh_action(value: Value) -> str:
    """The zsh command that offers what the argument of an action may be."""
    return f"compadd {' '.join(value.names)}" if value.names else "_files"


def fish() -> str:
    """The script by which fish completes our commands, added to the completions that fish has already."""
    lines = ["# Completion of scrapy-dust for fish: scrapy dustcompletion fish | source"]
    for one in offered():
        lines.append(_fish_line("__fish_use_subcommand", "-f", "-a", one.name, "-d", _fish_quoted(one.said)))
        here = f"__fish_seen_subcommand_from {one.name}"
        lines += [_fish_line(here, *_fish_option(option)) for option in one.options]
        for action, (said, value) in one.actions.items():
            none = f"{here}; and not __fish_seen_subcommand_from {' '.join(one.actions)}"
            lines.append(_fish_line(none, "-f", "-a", action, "-d", _fish_quoted(said)))
            there = f"{here}; and __fish_seen_subcommand_from {action}"
            lines.append(_fish_line(there, *_fish_value(value)))
        if not one.actions:
            lines.append(_fish_line(here, *_fish_value(one.argument)))
    return "\n".join(lines) + "\n"


def _fish_line(condition: str, *words: str) -> str:
    """The line of the fish script that offers *words* while *condition* holds."""
    return " ".join(["complete", "-c", "scrapy", "-n", _fish_quoted(condition), *words])


def _fish_option(option: Option) -> Iterator[str]:
    """The arguments of fish's ``complete`` for *option*."""
    for name in option.names:
        yield from ("-l", name[2:]) if name.startswith("--") else ("-s", name[1:])
    match option.value.kind:
        case Kind.NAME:
            yield from ("-x", "-a", _fish_quoted(" ".join(option.value.names)))
        case Kind.SETTING:
            yield from ("-x", "-a", _fish_quoted(" ".join(f"{name}=" for name in settings())))
        case Kind.FILE:
            yield from ("-r", "-F")
        case Kind.ANYTHING:
            yield "-x"
        case Kind.NOTHING:
            yield "-f"
    yield from ("-d", _fish_quoted(option.said))


def _fish_value(value: Value) -> Iterator[str]:
    """The arguments of fish's ``complete`` that say what to offer for *value*."""
    if value.kind is Kind.FILE:
        yield "-F"
    else:
        yield "-f"
        if value.names:
            yield from ("-a", _fish_quoted(" ".join(value.names)))


def _quoted(text: str) -> str:
    """*text* in single quotes, for bash and zsh."""
    return "'" + text.replace("'", "'\\''") + "'"


def _fish_quoted(text: str) -> str:
    """*text* in single quotes, for fish."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SCRIPTS = {"bash": bash, "zsh": zsh, "fish": fish}
