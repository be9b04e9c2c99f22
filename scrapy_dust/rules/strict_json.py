"""Strict reading of JSON from outside. All errors are `Damaged`.

No NaN, no number that is none, no key twice in an object, and every value has the type that was asked for.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any, NoReturn


class Damaged(ValueError):
    """An error in a JSON object: what is wrong, and where in the object."""


_REQUIRED = object()


class Block:
    """One JSON object whose keys are taken and checked one by one. `rest` has the keys that nobody took."""

    def __init__(self, value: object, where: str) -> None:
        if not isinstance(value, dict):
            raise Damaged(f"{where} must be an object, got {short(value)}")
        self.where = where
        self._left = dict(value)

    def take(self, key: str, default: object = _REQUIRED) -> object:
        """The value of *key*, or *default*; raises `Damaged` if both are missing."""
        value = self._left.pop(key, default)
        if value is _REQUIRED:
            raise Damaged(f"{self.where} has no {key!r}")
        return value

    def rest(self) -> dict[str, object]:
        """The keys that no call has taken, with their values."""
        return self._left

    def refuse(self, key: str, wanted: str, got: object) -> NoReturn:
        """Raise `Damaged`: *key* must be *wanted*, and is *got*."""
        raise Damaged(f"{self.where}: {key!r} must be {wanted}, got {short(got)}")

    def text(self, key: str) -> str:
        """The string under *key*. Raises `Damaged` for anything else."""
        value = self.take(key)
        return value if isinstance(value, str) else self.refuse(key, "a string", value)

    def maybe_text(self, key: str, *, required: bool = False) -> str | None:
        """The string under *key*; None where there is none. Raises `Damaged` for anything else."""
        value = self.take(key, _REQUIRED if required else None)
        return (
            value if value is None or isinstance(value, str) else self.refuse(key, "a string or null", value)
        )

    def boolean(self, key: str) -> bool:
        """The truth value under *key*. Raises `Damaged` for anything else."""
        value = self.take(key)
        return value if isinstance(value, bool) else self.refuse(key, "true or false", value)

    def count(self, key: str, default: object = _REQUIRED) -> int:
        """The integer under *key*, or *default*. Raises `Damaged` for anything else."""
        value = self.take(key, default)
        if isinstance(value, bool) or not isinstance(value, int):
            self.refuse(key, "an integer", value)
        return value

    def maybe_number(self, key: str) -> float | None:
        """The number under *key*; None where there is none. Raises `Damaged` for anything else."""
        value = self.take(key, None)
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
            self.refuse(key, "a number or null", value)
        return value

    def choice(self, key: str, names: tuple[str, ...]) -> str:
        """The value of *key*, which must be one of *names*."""
        value = self.take(key)
        if not isinstance(value, str) or value not in names:
            self.refuse(key, "one of " + ", ".join(repr(str(name)) for name in names), value)
        return value

    def items(self, key: str, default: object = _REQUIRED) -> list[object]:
        """The list under *key*, or *default*. Raises `Damaged` for anything else."""
        value = self.take(key, default)
        return value if isinstance(value, list) else self.refuse(key, "a list", value)

    def strings(self, key: str, values: list[object]) -> list[str]:
        """*values*, which must all be strings."""
        texts = [value for value in values if isinstance(value, str)]
        return texts if len(texts) == len(values) else self.refuse(key, "of strings only", values)


def load_json(content: bytes) -> Any:
    """The value that the JSON text *content* has. NaN, invalid numbers and repeated keys are errors."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise Damaged(f"line {line} is not UTF-8 (byte 0x{content[error.start]:02x})") from None
    if not text.strip():
        raise Damaged("the file is empty")
    try:
        return json.loads(
            text,
            object_pairs_hook=_object_without_repeats,
            parse_constant=_refuse_constant,
            parse_float=_finite_float,
        )
    except Damaged:
        raise
    except json.JSONDecodeError as error:
        raise Damaged(f"line {error.lineno}, column {error.colno} is not JSON ({error.msg})") from None
    except ValueError:  # Python's own limit to the digits of an integer
        raise Damaged("a number in it has too many digits") from None
    except RecursionError:
        raise Damaged("its lists are nested too deeply") from None


def dump_json(value: object, indent: int | None = None) -> bytes:
    """*value* as JSON in UTF-8, with a newline at the end."""
    separators = (",", ":") if indent is None else (",", ": ")
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)
    return (_visible(text) + "\n").encode()


def _visible(text: str) -> str:
    """*text* with escapes for characters that nobody sees, such as those that turn the direction of a line."""
    if text.isascii():
        return text
    # So is half of a surrogate pair, which is no UTF-8.
    return "".join(c if c.isascii() or c.isprintable() else json.dumps(c)[1:-1] for c in text)


def _object_without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """The dict of an object's *pairs*. Raises `Damaged` if a key comes twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise Damaged(f"the key {short(twice)} stands twice in one object")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise Damaged(f"{name} is no JSON number")


def _finite_float(digits: str) -> float:
    """The number that *digits* are. Raises `Damaged` if it is too large to be one."""
    number = float(digits)
    return number if math.isfinite(number) else _refuse_constant(short(digits))


def short(value: object) -> str:
    """*value* as a sentence quotes it: as JSON, cut if it is long."""
    kind = {dict: "an object", list: "a list", type(None): "null", bool: str(value).lower()}.get(type(value))
    if kind is not None:
        return kind
    try:
        text = repr(value)
    except ValueError:  # an integer with more digits than Python writes
        return "a huge number"
    return text if len(text) <= 60 else text[:57] + "…"
