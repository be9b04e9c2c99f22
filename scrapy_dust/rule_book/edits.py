"""Edits on disk: of each operation what is done, of each condition where it must be so.

All that determines what an edit does is spelled out, and a key that is not known here is refused: an edit that
is half understood would be a wider one. The names are the format's, whatever the classes are called.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from itertools import pairwise
from typing import Any, cast

from scrapy_dust.dust.edits.captures import CLASS_NAMES, Form
from scrapy_dust.dust.edits.edit import Edit
from scrapy_dust.dust.edits.guards import Condition
from scrapy_dust.dust.edits.operation import Operation
from scrapy_dust.dust.edits.paths import (
    AnySegment,
    CollapseRepeats,
    DropFrom,
    DropIndex,
    DropLast,
    DropSlash,
    MapSegments,
    MapSuffix,
)
from scrapy_dust.dust.edits.queries import (
    AnyValue,
    CutValue,
    DropEmpty,
    DropParameter,
    DropQuery,
    DropRepeated,
    KeepParameters,
    MapValue,
    SortParameters,
)
from scrapy_dust.dust.edits.rewriting import Rewrite
from scrapy_dust.dust.edits.spellings import (
    Decode,
    DropFragment,
    DropWww,
    FoldCase,
    MapHost,
    OneScheme,
    PlainHost,
)
from scrapy_dust.dust.edits.substituting import Substitute
from scrapy_dust.dust.rules import SubstringRule
from scrapy_dust.rule_book.blocks import Block, Damaged

OPERATIONS: Mapping[str, type] = {
    "any segment": AnySegment,
    "any value": AnyValue,
    "collapse repeats": CollapseRepeats,
    "cut value": CutValue,
    "decode": Decode,
    "drop empty": DropEmpty,
    "drop fragment": DropFragment,
    "drop from": DropFrom,
    "drop index": DropIndex,
    "drop last": DropLast,
    "drop parameter": DropParameter,
    "drop query": DropQuery,
    "drop repeated": DropRepeated,
    "drop slash": DropSlash,
    "drop www": DropWww,
    "fold case": FoldCase,
    "keep parameters": KeepParameters,
    "map host": MapHost,
    "map segments": MapSegments,
    "map suffix": MapSuffix,
    "map value": MapValue,
    "one scheme": OneScheme,
    "plain host": PlainHost,
    "rewrite": Rewrite,
    "sort parameters": SortParameters,
    "substitute": Substitute,
}
_NAMES = {kind: name for name, kind in OPERATIONS.items()}

_PLACE = re.compile(r"host|path|depth|ext|shape|#:|/[1-9][0-9]?|\?.+", re.DOTALL)
_MOST = 8  #: operations or conditions of an edit
#: Texts that may be empty; without any other an operation could not be meant.
_MAY_BE_EMPTY = frozenset(("other", "beta", "value"))


def content_of(edit: Edit) -> list[object]:
    """All that determines what *edit* does, as JSON, always in the same order."""
    operations = [{"do": _NAMES[type(one)]} | _details(one) for one in edit.operations]
    guard = [{"of": one.name, "value": one.value, "holds": one.holds} for one in edit.guard]
    return ["edit", operations, guard]


def edit_json(edit: Edit) -> dict[str, Any]:
    """As it stands in a rule book; ``reads`` is for people."""
    kind, operations, guard = content_of(edit)
    return {"kind": kind, "reads": str(edit), "operations": operations, "guard": guard}


def edit_of(block: Block) -> Edit:
    """What `edit_json` wrote. Raises `Damaged`."""
    block.take("reads", None)
    return _edit(block.items("operations"), block.items("guard"), block.where)


def edit_from(operations: list[object], guard: list[object]) -> Edit:
    """What `content_of` said. Raises `Damaged`."""
    edit = _edit(operations, guard, "an edit")
    try:
        check_edit(edit)
    except ValueError as error:
        raise Damaged(str(error)) from None
    return edit


def _details(operation: Operation) -> dict[str, object]:
    if isinstance(operation, Substitute):
        rule = operation.rule
        return {"alpha": rule.alpha, "beta": rule.beta, "start": rule.start, "end": rule.end}
    found = ((spec.name, getattr(operation, spec.name)) for spec in fields(cast("Any", operation)))
    return {name: _plain(value) for name, value in found}


def _plain(value: object) -> object:
    if isinstance(value, frozenset):
        return sorted(value)
    return list(value) if isinstance(value, tuple) else value


def _edit(operations: list[object], guard: list[object], where: str) -> Edit:
    done = [_operation(Block(one, f"{where}, operation {n}")) for n, one in enumerate(operations, start=1)]
    held = [_condition(Block(one, f"{where}, condition {n}")) for n, one in enumerate(guard, start=1)]
    return Edit(tuple(done), tuple(held))


def _operation(block: Block) -> Operation:
    kind = OPERATIONS[block.choice("do", tuple(OPERATIONS))]
    operation: Operation
    if kind is Substitute:
        operation = Substitute(
            SubstringRule(block.text("alpha"), block.text("beta"), block.switch("start"), block.switch("end"))
        )
    else:
        operation = kind(**{spec.name: _READ[str(spec.type)](block, spec.name) for spec in fields(kind)})
    _refuse_rest(block)
    return operation


def _condition(block: Block) -> Condition:
    condition = Condition(
        block.text("of"), block.maybe_text("value", required=True), holds=block.switch("holds")
    )
    _refuse_rest(block)
    return condition


def _refuse_rest(block: Block) -> None:
    for name in block.rest():
        raise Damaged(f"{block.where}: {name!r} is no key of it")


def _texts(block: Block, key: str) -> tuple[str, ...]:
    return tuple(block.strings(key, block.items(key)))


def _form(block: Block, key: str) -> Form:
    pieces = block.items(key)
    form = [one for one in pieces if isinstance(one, (str, int)) and not isinstance(one, bool)]
    return (
        tuple(form) if len(form) == len(pieces) else block.wrong(key, "of strings and numbers only", pieces)
    )


#: By the annotation of an operation's field.
_READ: Mapping[str, Callable[[Block, str], object]] = {
    "str": Block.text,
    "str | None": lambda block, key: block.maybe_text(key, required=True),
    "bool": Block.switch,
    "int": Block.count,
    "tuple[str, ...]": _texts,
    "frozenset[str]": lambda block, key: frozenset(_texts(block, key)),
    "Form": _form,
}


def check_edit(edit: Edit) -> None:
    """Raise `ValueError` for an edit that cannot be meant, or could not be applied."""
    if not 0 < len(edit.operations) <= _MOST or len(edit.guard) > _MOST:
        raise ValueError(f"an edit has 1 to {_MOST} operations, and at most {_MOST} conditions")
    for operation in edit.operations:
        _check_operation(operation)
    for condition in edit.guard:
        if not _PLACE.fullmatch(condition.name):
            raise ValueError(f"'of' must be a place in a URL, got {condition.name!r}")


def _check_operation(operation: Operation) -> None:
    name, details = _NAMES[type(operation)], _details(operation)
    for key, value in details.items():
        if value in ("", []) and key not in _MAY_BE_EMPTY and name != "keep parameters":
            raise ValueError(f"{key!r} of {name!r} must not be empty")
    for key in ("value", "suffix", "segments", "form", "alias", "alpha"):
        other = "beta" if key == "alpha" else "host" if key == "alias" else "other"
        if key in details and details[key] == details.get(other, ...):
            raise ValueError(f"{name!r} must change something, both sides are {details[key]!r}")
    place = details.get("place", 1)
    if place == 0 or (isinstance(operation, DropFrom) and operation.place < 1):
        raise ValueError(f"'place' of {name!r} must be a place in a path, got {place}")
    if isinstance(operation, MapSegments) and not any(operation.segments):
        raise ValueError("'segments' must have one that is not empty")
    if isinstance(operation, Rewrite):
        _check_rewrite(operation)


def _check_rewrite(rewrite: Rewrite) -> None:
    captured = [one for one in rewrite.form if isinstance(one, int)]
    told = [one for one in rewrite.other if isinstance(one, int)]
    if sorted(captured) != list(range(len(rewrite.classes))) or not set(told) <= set(captured):
        raise ValueError("'form' must have each capture of 'classes' once, and 'other' none beside them")
    if any(told.count(one) > 2 for one in captured):
        raise ValueError("'other' must not have a capture more than twice")
    if any(isinstance(a, int) and isinstance(b, int) for a, b in pairwise(rewrite.form)):
        raise ValueError("'form' must have a text between captures")
    if any(kind not in CLASS_NAMES for kind in rewrite.classes):
        raise ValueError(f"'classes' must be of {', '.join(CLASS_NAMES)}, got {list(rewrite.classes)}")
