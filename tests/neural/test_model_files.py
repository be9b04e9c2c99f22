"""Models on disk: they come back as they were, and a file that somebody else made runs nothing."""

from __future__ import annotations

import io
import os
import pickle
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from scrapy_dust.neural.model import Model
from scrapy_dust.neural.model_files import ModelError, load_model, save_model, shapes_of
from scrapy_dust.neural.params import PLUS
from scrapy_dust.neural.training_state import Epoch, State
from scrapy_dust.neural.vocabulary import Vocabulary

PARAMS = replace(PLUS, embedding=3, hidden=2)
VOCABULARY = Vocabulary(("http:", "a.example", "\udcff"), PARAMS.whole, PARAMS.copies)


def weights(first):
    return {
        name: np.full(shape, first + at, dtype=np.float32)
        for at, (name, shape) in enumerate(shapes_of(VOCABULARY, PARAMS).items())
    }


STATE = State(
    (Epoch(1, 0.5, None, 1.5), Epoch(2, 0.25, 0.3, 2.5)),
    weights(0),
    weights(100),
    {"embed.weight:step": np.array(7.0, dtype=np.float32), "spell.bias:exp_avg": weights(3)["spell.bias"]},
)
MODEL = Model("a.example", PARAMS, VOCABULARY, ((4, -1), (5,)), "digest", STATE, {"right": 0.75})


class Evil:
    """Unpickled, it makes a folder."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_a_model_comes_back_as_it_was(tmp_path):
    path = tmp_path / "models" / "a.example.model"
    assert load_model(path) is None
    save_model(path, MODEL)
    found = load_model(path)
    assert (found.site, found.params, found.vocabulary, found.forms) == (
        MODEL.site,
        MODEL.params,
        MODEL.vocabulary,
        MODEL.forms,
    )
    assert (found.trained_on, found.scores, found.state.epochs) == (
        MODEL.trained_on,
        MODEL.scores,
        STATE.epochs,
    )
    for ours, theirs in ((found.state.weights, STATE.weights), (found.state.optimizer, STATE.optimizer)):
        assert ours.keys() == theirs.keys()
        assert all(np.array_equal(ours[name], theirs[name]) for name in theirs)
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def with_member(path, name, content, compression=zipfile.ZIP_STORED):
    """The model at *path* with one member in another's place."""
    with zipfile.ZipFile(path) as archive:
        members = {one: archive.read(one) for one in archive.namelist()}
    with zipfile.ZipFile(path, "w", compression) as archive:
        for one, held in (members | {name: content}).items():
            archive.writestr(one, held)


def array(value, **options):
    held = io.BytesIO()
    np.lib.format.write_array(held, np.array(value), **options)
    return held.getvalue()


def header(text):
    """An array of which there is nothing but what it says of itself."""
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.example.model"
    save_model(path, MODEL)
    return path


def test_a_pickle_in_the_place_of_weights_is_refused_and_not_run(path, tmp_path):
    trap = tmp_path / "trap"
    with_member(path, "best/spell.bias.npy", array([Evil(trap)], allow_pickle=True))
    with pytest.raises(ModelError, match="is no whole model"):
        load_model(path)
    assert not trap.exists()


def test_a_file_that_is_a_pickle_altogether_is_refused_and_not_run(path, tmp_path):
    trap = tmp_path / "trap"
    path.write_bytes(pickle.dumps(Evil(trap)))
    with pytest.raises(ModelError, match=r"is no model of scrapy-dust\. Remove the file"):
        load_model(path)
    assert not trap.exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("best/spell.bias.npy", array(np.zeros((3, 5), dtype=np.float32))),
        ("best/spell.bias.npy", array(np.full(len(VOCABULARY), np.nan, dtype=np.float32))),
        ("best/spell.bias.npy", b"\x93NUMPY"),
        (
            "best/spell.bias.npy",
            header("{'descr': '<f4', 'fortran_order': False, 'shape': (10000000000000,)}"),
        ),
        ("best/spell.bias.npy", header("{'descr': '|O', 'fortran_order': False, 'shape': (27,)}")),
        ("best/spell.bias.npy", header("((((((((((")),
        ("best/spell.bias.npy", header("'" * 3)),
        ("best/more.npy", array(np.zeros(2, dtype=np.float32))),
        ("elsewhere/../../x.npy", array(np.zeros(2, dtype=np.float32))),
        ("model.json", b"[" * 100_000),
        ("model.json", b'{"format": 99}'),
        ("model.json", b"{}"),
        ("model.json", b"\xff"),
    ],
)
def test_what_does_not_fit_is_one_sentence(path, name, content):
    with_member(path, name, content)
    with pytest.raises(ModelError) as failed:
        load_model(path)
    assert str(failed.value).startswith(f"{path}: is no whole model (")
    assert "\n" not in str(failed.value)


def test_a_small_file_that_says_it_is_large_is_not_unpacked(path):
    with_member(path, "best/spell.bias.npy", b"\0" * 10_000_000, zipfile.ZIP_DEFLATED)
    with pytest.raises(ModelError, match="compressed"):
        load_model(path)


def test_every_cut_of_a_file_is_refused_or_whole(path):
    content = path.read_bytes()
    for length in range(0, len(content), 499):
        path.write_bytes(content[:length])
        with pytest.raises(ModelError):
            load_model(path)
