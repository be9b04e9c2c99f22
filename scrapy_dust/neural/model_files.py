"""Models on disk: one file of plain numbers, with nothing that could run.

The file is numpy's archive of arrays, uncompressed, and a JSON text that says what they are. It is read without pickle,
and believed only as far as it is consistent: names, shapes and kinds of numbers are those of the network that the text
describes, and no array is larger than the file. Replaced atomically, so that who reads it beside a training has the
one before or the one after.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np

from scrapy_dust.errors import DustError
from scrapy_dust.neural.model import Model
from scrapy_dust.neural.params import Loss, NetworkParams, Optimizer, Precision
from scrapy_dust.neural.training_state import Arrays, Epoch, State
from scrapy_dust.neural.vocabulary import Vocabulary

FORMAT = 1
_TEXT = "model.json"
#: No network of ours is wider; of more numbers than this there is no reading on a small machine.
_WIDEST = 4096
_MOST_TOKENS = 100_000
_KINDS = frozenset("fiu")


class ModelError(DustError):
    """A file that is no model, or not a whole one."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(path, reason)

    def __str__(self) -> str:
        return f"{self.path}: {self.reason} Remove the file, and the network is trained anew."


def save_model(path: Path, model: Model) -> None:
    """Write *model* to *path*. Raises `ModelError` where that fails."""
    groups = {"weights": model.state.weights, "best": model.state.best, "optimizer": model.state.optimizer}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(_TEXT), json.dumps(_json_of_model(model)))
        for group, arrays in groups.items():
            for name, array in sorted(arrays.items()):
                held = io.BytesIO()
                np.lib.format.write_array(held, np.asarray(array, order="C"), allow_pickle=False)
                archive.writestr(zipfile.ZipInfo(f"{group}/{name}.npy"), held.getvalue())
    beside = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(content.getvalue())
        beside.replace(path)
    except OSError as error:
        raise ModelError(str(path), f"cannot be written ({error.strerror}).") from None


def load_model(path: Path) -> Model | None:
    """The model at *path*; None without a file. Raises `ModelError` for a file that is no model of ours."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _read_model(archive)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ModelError(str(path), f"cannot be read ({error.strerror}).") from None
    except zipfile.BadZipFile:
        raise ModelError(str(path), "is no model of scrapy-dust.") from None
    except (ValueError, TypeError, KeyError, EOFError, RuntimeError, MemoryError) as error:
        raise ModelError(str(path), f"is no whole model ({error}).") from None


def _json_of_model(model: Model) -> dict[str, object]:
    """All of *model* but its arrays, as JSON has it."""
    return {
        "format": FORMAT,
        "site": model.site,
        "lesson": model.trained_on,
        "params": asdict(model.params),
        "functions": model.vocabulary.functions,
        "forms": model.forms,
        "epochs": [asdict(epoch) for epoch in model.state.epochs],
        "scores": dict(model.scores),
    }


def _read_model(archive: zipfile.ZipFile) -> Model:
    """The model in *archive*. Raises `ValueError`, `KeyError` or `TypeError` for anything inconsistent."""
    members = _array_names(archive)
    told = json.loads(archive.read(_TEXT))
    if told["format"] != FORMAT:
        raise ValueError(f"it has format {told['format']!r}; this version reads {FORMAT}")
    params = _parse_params(told["params"])
    functions = tuple(map(_parse_text, told["functions"]))
    if len(functions) > _MOST_TOKENS:
        raise ValueError("it has too many tokens")
    vocabulary = Vocabulary(functions, params.whole, params.copies)
    shapes = shapes_of(vocabulary, params)
    groups: dict[str, dict[str, Any]] = {"weights": {}, "best": {}, "optimizer": {}}
    for member in members:
        group, _, name = member.removesuffix(".npy").partition("/")
        groups[group][name] = _read_array(archive, member, shapes, name.partition(":")[0], ":" in name)
    # Who has come to the end has no others than the best.
    for group in ("weights", "best") if groups["weights"] else ("best",):
        if groups[group].keys() != shapes.keys():
            raise ValueError(f"some of its {group} are missing")
    epochs = tuple(Epoch(**_parse_epoch(one)) for one in told["epochs"])
    scores = {_parse_text(name): float(value) for name, value in told["scores"].items()}
    forms = tuple(tuple(map(int, form)) for form in told["forms"])
    state = State(epochs, **groups)
    return Model(
        _parse_text(told["site"]), params, vocabulary, forms, _parse_text(told["lesson"]), state, scores
    )


def _array_names(archive: zipfile.ZipFile) -> list[str]:
    """The names of the arrays in the file. Compressed ones are refused, so that none is larger than it seems."""
    infos = archive.infolist()
    if any(one.compress_type != zipfile.ZIP_STORED or one.file_size != one.compress_size for one in infos):
        raise ValueError("its arrays are compressed")
    names = [one.filename for one in infos]
    if len(set(names)) < len(names):
        raise ValueError("a name is there twice")
    return [name for name in names if name != _TEXT]


def shapes_of(vocabulary: Vocabulary, params: NetworkParams) -> dict[str, tuple[int, ...]]:
    """The shape of each weight of the network with this vocabulary and these parameters."""
    size, e, h = len(vocabulary), params.embedding, params.hidden
    if not (0 < e <= _WIDEST and 0 < h <= _WIDEST):
        raise ValueError("its network is too wide")
    shapes: dict[str, tuple[int, ...]] = {"embed.weight": (size, e)}
    for name, width in (("encoder", e), ("decoder", e + h if params.copies else e)):
        shapes[f"{name}.weight_ih_l0"], shapes[f"{name}.weight_hh_l0"] = (3 * h, width), (3 * h, h)
        shapes[f"{name}.bias_ih_l0"] = shapes[f"{name}.bias_hh_l0"] = (3 * h,)
    shapes["spell.weight"], shapes["spell.bias"] = (size, h), (size,)
    if params.copies:
        shapes["point.weight"], shapes["point.bias"] = (h, h), (h,)
    return shapes


def _read_array(
    archive: zipfile.ZipFile,
    member: str,
    shapes: Mapping[str, tuple[int, ...]],
    weight: str,
    of_optimizer: bool,
) -> Any:
    """The array in the file *member*, if its shape is that of *weight*. *of_optimizer*: a single number will do, too."""
    held = io.BytesIO(archive.read(member))
    try:
        if np.lib.format.read_magic(held) != (1, 0):
            raise ValueError(f"{member} is written otherwise")
        shape, by_column, dtype = np.lib.format.read_array_header_1_0(held)
    except (SyntaxError, TokenError) as error:
        raise ValueError(f"{member} does not say what it is ({error})") from None
    # Looked at before there is room made for it; what holds objects is not of these kinds.
    fits = shape == shapes[weight] or (of_optimizer and shape == ())
    if not fits or by_column or dtype.kind not in _KINDS:
        raise ValueError(f"{member} does not fit")
    array = np.frombuffer(held.read(), dtype).reshape(shape)
    if not np.isfinite(array).all():
        raise ValueError(f"{member} is not all numbers")
    return array


def _parse_params(told: Mapping[str, Any]) -> NetworkParams:
    """The parameters in *told*, each of the right type."""
    known = {one.name: type(one.default) for one in fields(NetworkParams)}
    values = {}
    for name, value in told.items():
        kind = known[name]
        if kind in (Loss, Optimizer, Precision):
            values[name] = kind(value)
        elif type(value) is kind:
            values[name] = value
        else:
            raise ValueError(f"{name} is {value!r}")
    return NetworkParams(**values)


def _parse_epoch(told: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an `Epoch` in *told*."""
    held_out = told["held_out"]
    return {
        "number": int(told["number"]),
        "loss": float(told["loss"]),
        "held_out": None if held_out is None else float(held_out),
        "seconds": float(told["seconds"]),
    }


def _parse_text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is no text")
    return value


__all__ = ["Arrays", "ModelError", "load_model", "save_model", "shapes_of"]
