from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.crawl_log.log_places import log_dir, log_sources, new_log_path, spider_log_dir

LOGS = Path("logs")


@given(st.text(max_size=300) | st.sampled_from([".", "..", "a/b", "a\\b", "\0", "~", "%", "%2E", "ü" * 100]))
def test_any_spiders_name_is_one_folder_below_the_logs(name):
    folder = spider_log_dir(LOGS, name)
    assert folder.parent == LOGS
    assert folder.name not in {"", ".", ".."}
    assert not folder.name.startswith(".")
    assert folder.name.isascii()
    assert len(folder.name) < 255
    assert not set(folder.name) & set('/\\:*?"<>|\0')


@given(st.lists(st.text(alphabet="a.%/2E", max_size=4), unique=True))
def test_different_spiders_have_different_folders(names):
    assert len({spider_log_dir(LOGS, name) for name in names}) == len(names)


def test_long_names_that_begin_alike_have_different_folders():
    assert spider_log_dir(LOGS, "x" * 200 + "a") != spider_log_dir(LOGS, "x" * 200 + "b")


def test_ordinary_names_are_their_folders():
    assert spider_log_dir(LOGS, "my-spider_2.test") == LOGS / "my-spider_2.test"


def test_each_crawl_has_a_file_of_its_own_and_names_sort_by_time():
    began = datetime(2026, 11, 18, 9, 59, 59, 999_999, tzinfo=UTC)
    times = [began, began, began + timedelta(microseconds=1), began + timedelta(days=30)]
    names = [new_log_path(LOGS, "s", time).name for time in times]
    assert len(set(names)) == 4
    assert sorted(names[1:]) == names[1:]
    assert names[0].startswith("20261118T095959.999999Z-")


def test_logs_are_below_dust_dir(tmp_path, monkeypatch):
    assert log_dir(tmp_path) == tmp_path / "logs"
    assert log_dir("some/where") == Path("some/where/logs")


def test_without_dust_dir_logs_are_in_the_projects_data(tmp_path, monkeypatch):
    (tmp_path / "scrapy.cfg").write_text("[settings]\n")
    monkeypatch.chdir(tmp_path)
    assert log_dir(None).resolve() == (tmp_path / ".scrapy" / "dust" / "logs").resolve()


@pytest.mark.parametrize("zone", [UTC, None])
def test_a_log_path_is_not_created(tmp_path, zone):
    path = new_log_path(tmp_path / "logs", "s", datetime.now(zone))
    assert not path.parent.exists()


def test_there_is_nothing_to_read_before_the_first_crawl(tmp_path):
    assert log_sources(tmp_path) == log_sources(tmp_path, "s") == []
    path = new_log_path(log_dir(tmp_path), "s")
    path.parent.mkdir(parents=True)
    assert log_sources(tmp_path, "s") == []
    path.touch()
    assert log_sources(tmp_path) == [str(tmp_path / "logs")]
    assert log_sources(tmp_path, "s") == [str(tmp_path / "logs" / "s")]
    assert log_sources(tmp_path, "other") == []


def test_a_log_that_others_put_there_is_read_too(tmp_path):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "access.log").touch()
    assert log_sources(tmp_path) == [str(tmp_path / "logs")]
