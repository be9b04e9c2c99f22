"""Gives the trained network of a site: trains it anew, goes on with an interrupted training, or reads it from the
disk.

A file on the disk is used if it was trained on the same pairs with the same parameters. During training, the state
after each epoch is saved in the model's own file, so that an interruption costs one epoch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from scrapy_dust.neural.model import Model, model_of
from scrapy_dust.neural.model_card import card_of
from scrapy_dust.neural.model_files import ModelError, load_model, save_model
from scrapy_dust.neural.params import NetworkParams
from scrapy_dust.neural.torch_extra import require_torch
from scrapy_dust.neural.training_data import TrainingData, training_data_of
from scrapy_dust.neural.training_state import Epoch, State
from scrapy_dust.visits.pages import SiteLog

#: Is told of each epoch, and how many there may be.
Watch = Callable[[str, Epoch, int], None]


def ignore_progress(site: str, epoch: Epoch, most: int) -> None:
    """A function for callers that do not show how training goes: it does nothing."""


def trained_model(
    site: str,
    log: SiteLog,
    params: NetworkParams,
    *,
    folder: Path | None = None,
    watch: Watch = ignore_progress,
) -> Model | None:
    """The network of *site*: read from *folder* if it is there, else trained on *log*; None where no two URLs of
    *log* show one page.

    Raises `NoNetwork` where PyTorch is missing, `ModelError` where *folder* does not take the model.
    """
    data = training_data_of(site, log, params)
    if data.is_empty:
        return None
    require_torch()
    from scrapy_dust.neural.training import train  # noqa: PLC0415  Only there is PyTorch needed.

    path = None if folder is None else folder / f"{_file_name(site)}.model"
    state = _known_state(path, data, params)
    if state.is_over(params.epochs, params.patience):
        assert path is not None
        return load_model(path)
    for state in train(data.pairs, data.held_out, data.vocabulary, params, state):  # noqa: B020
        watch(site, state.epochs[-1], params.epochs)
        if path is not None:
            save_model(path, model_of(data, params, state))
    return _finish_model(path, data, params, state)


def _known_state(path: Path | None, data: TrainingData, params: NetworkParams) -> State:
    """The state that an earlier run has reached; a new one where the file is unreadable or of other data."""
    try:
        model = None if path is None else load_model(path)
    except ModelError:
        model = None
    if model is None or (model.trained_on, model.params, model.site) != (data.digest, params, data.site):
        return State()
    return model.state


def _finish_model(path: Path | None, data: TrainingData, params: NetworkParams, state: State) -> Model:
    """The model of a training that is over, with its scores, saved at *path* with a model card beside it."""
    from scrapy_dust.neural.translator import Translator  # noqa: PLC0415

    best = state.best_epoch
    assert best is not None
    # Only an unfinished training needs the rest.
    done = replace(state, weights={}, optimizer={})
    model = model_of(data, params, done)
    scores = Translator(model).scores(data.held_out or data.pairs)
    model = replace(model, scores={**scores, "best_epoch": best.number, "loss": best.loss})
    if path is not None:
        save_model(path, model)
        card = path.with_suffix(".md")
        try:
            card.write_text(card_of(model, data), encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise ModelError(str(card), f"cannot be written ({error.strerror}).") from None
    return model


def _file_name(site: str) -> str:
    """*site* as a file name: not every file system allows the colon before a port."""
    return "".join(letter if letter.isalnum() or letter in ".-" else "_" for letter in site)
