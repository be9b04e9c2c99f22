"""Rules as JSON: the operations and the conditions of each rule.

All that determines what a rule does is spelled out, and a key that is not known here is refused: a rule that is half
understood would be a wider one. The names are the format's, whatever the classes are called.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, cast

from scrapy_dust.rules.captures import Form
from scrapy_dust.rules.guards import Condition
from scrapy_dust.rules.language import OPERATIONS
from scrapy_dust.rules.operation import Operation, fields_json
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.strict_json import Block, Damaged

_PLACE = re.compile(r"host|path|depth|ext|shape|separator|#:|/[1-9][0-9]?|\?.+", re.DOTALL)
_MOST = 8  #: operations or conditions of a rule


def content_of(rule: Rule) -> list[object]:
    """The JSON that determines what *rule* does, always in the same order."""
    operations = [{"do": one.do} | fields_json(one) for one in rule.operations]
    guard = [{"of": one.name, "value": one.value, "holds": one.holds} for one in rule.guard]
    return [operations, guard]


def rule_json(rule: Rule) -> dict[str, Any]:
    """*rule* as a rule book has it. The key ``reads`` is for people."""
    operations, guard = content_of(rule)
    return {"reads": str(rule), "operations": operations, "guard": guard}


def rule_of(block: Block) -> Rule:
    """The rule in *block*, a rule of a rule book as `rule_json` wrote it. Raises `Damaged` if it is none."""
    block.take("reads", None)
    return _parse_rule(block.items("operations"), block.items("guard"), block.where)


def rule_from(content: object) -> Rule:
    """The rule of which `content_of` made *content*. Raises `Damaged` if it is none."""
    match content:
        case [[_, *_] as operations, list(guard)]:
            return _parse_rule(list(operations), guard, "a rule")
    raise Damaged("a rule must be a list of operations and a list of conditions")


def _parse_rule(operations: list[object], guard: list[object], where: str) -> Rule:
    """The rule of these *operations* and conditions, as JSON has them; *where* names its place in the file for errors."""
    done = [
        _parse_operation(Block(one, f"{where}, operation {n}")) for n, one in enumerate(operations, start=1)
    ]
    held = [_parse_condition(Block(one, f"{where}, condition {n}")) for n, one in enumerate(guard, start=1)]
    return Rule(tuple(done), tuple(held))


def _parse_operation(block: Block) -> Operation:
    kind = cast("type[Any]", OPERATIONS[block.choice("do", tuple(OPERATIONS))])
    operation: Operation = kind(
        **{spec.name: _READ[str(spec.type)](block, spec.name) for spec in fields(kind)}
    )
    _refuse_unknown_keys(block)
    return operation


def _parse_condition(block: Block) -> Condition:
    condition = Condition(
        block.text("of"), block.maybe_text("value", required=True), holds=block.boolean("holds")
    )
    _refuse_unknown_keys(block)
    return condition


def _refuse_unknown_keys(block: Block) -> None:
    """Raise `Damaged` if *block* has a key that nobody has read."""
    for name in block.rest():
        raise Damaged(f"{block.where}: {name!r} is no key of it")


def _parse_texts(block: Block, key: str) -> tuple[str, ...]:
    """The list of strings under *key* as a tuple."""
    return tuple(block.strings(key, block.items(key)))


def _parse_form(block: Block, key: str) -> Form:
    """The form under *key*: texts, and numbers of captures between them."""
    pieces = block.items(key)
    form = [one for one in pieces if isinstance(one, (str, int)) and not isinstance(one, bool)]
    return (
        tuple(form) if len(form) == len(pieces) else block.refuse(key, "of strings and numbers only", pieces)
    )


#: By the annotation of an operation's field.
_READ: Mapping[str, Callable[[Block, str], object]] = {
    "str": Block.text,
    "str | None": lambda block, key: block.maybe_text(key, required=True),
    "bool": Block.boolean,
    "int": Block.count,
    "tuple[str, ...]": _parse_texts,
    "frozenset[str]": lambda block, key: frozenset(_parse_texts(block, key)),
    "Form": _parse_form,
}


def check_rule(rule: Rule) -> None:
    """Raise `ValueError` for a rule that makes no sense, or could not be applied."""
    if not 0 < len(rule.operations) <= _MOST or len(rule.guard) > _MOST:
        raise ValueError(f"a rule has 1 to {_MOST} operations, and at most {_MOST} conditions")
    for operation in rule.operations:
        for key, value in fields_json(operation).items():
            if value in ("", []) and key not in operation.may_be_empty:
                raise ValueError(f"{key!r} of {operation.do!r} must not be empty")
        operation.check_fields()
    for condition in rule.guard:
        if not _PLACE.fullmatch(condition.name):
            raise ValueError(f"'of' must be a place in a URL, got {condition.name!r}")
