"""``scrapy dustrules migrate`` in a process."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from scrapy_dust.rule_book import RuleBook
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule

pytestmark = pytest.mark.once

OLD = {
    "format": 1,
    "sites": {
        "a.example": {"rules": [{"kind": "parameter", "name": "sid", "value": None, "status": "valid"}]}
    },
}


def test_a_book_is_migrated_once_and_the_old_one_stays_beside_it(tmp_path):
    path = tmp_path / "dust-rules.json"
    path.write_text(json.dumps(OLD), "utf-8")

    def dustrules(*arguments):
        done = subprocess.run(
            [sys.executable, "-m", "scrapy", "dustrules", *arguments],
            cwd=tmp_path,
            capture_output=True,
            check=False,
            encoding="utf-8",
        )
        return done.returncode, done.stdout, done.stderr

    status, _, said = dustrules("list")
    assert (status, said.count("\n")) == (1, 1)
    assert "`scrapy dustrules migrate`" in said
    assert dustrules("migrate") == (
        0,
        "dust-rules.json: 1 rules migrated; the old book is dust-rules.json.old\n",
        "",
    )
    assert RuleBook.load([str(path)]).rules_by_site() == {"a.example": (Rule.of(DropParameter("sid")),)}
    assert json.loads(path.with_name("dust-rules.json.old").read_bytes()) == OLD
    assert dustrules("migrate") == (0, "dust-rules.json: nothing to do\n", "")
