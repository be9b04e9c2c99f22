"""What a browser made for the crawl it makes for validation: without it all pages here are one and the same shell."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crawl.site import Answer, serving
from tests.e2e.test_rendering import RENDERERS, crawled
from tests.waiting import PATIENCE

pytestmark = pytest.mark.e2e

PAGES = 10
#: A page is what its script makes of `id`; `sid` changes nothing.
APP = (
    b"""<html><head><title>app</title></head><body><p id="route"></p><script>
var found = /[?&]id=(\\d+)/.exec(location.search);
var text = "";
for (var k = 0; k < 40; k++) text += " word" + (found ? found[1] : "home") + "x" + k;
document.getElementById("route").textContent = text;
if (!found) for (var n = 0; n < %d; n++)
    document.body.innerHTML += "<a href='/p?id=" + n + "&sid=a" + n + "'>x</a><a href='/p?id=" + n + "&sid=b" + n + "'>x</a>";
</script></body></html>"""
    % PAGES
)


def web(path: str) -> Answer:
    known = path == "/" or path.startswith("/p?id=")
    return Answer(APP, headers={"Content-Type": "text/html"}) if known else Answer(b"", 404)


@pytest.mark.parametrize("by", [pytest.param(by, marks=pytest.mark.xdist_group(by)) for by in RENDERERS])
def test_rules_of_rendered_pages_are_validated_as_they_are_rendered(by: str, tmp_path: Path) -> None:
    renderer, variable, package = RENDERERS[by]
    if not shutil.which(os.environ.get(variable, "")):
        pytest.skip(f"{by} is not here; set {variable} to where it is (.ci/run does)")
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed; pip install --group render brings it")
    with serving(web) as site, renderer() as settings:
        settings += [f"-sDUST_RULES={tmp_path / 'rules.json'}", f"-sDUST_DIR={tmp_path / 'dust'}"]
        settings += ["-sTELNETCONSOLE_ENABLED=False", "-sREMOTE_CONTROL_ENABLED=False"]
        # These pages are too few for a bound on what nobody has seen.
        settings.append("-sDUST_MAX_RISK=1")
        crawled(by, site, tmp_path, settings)
        (log,) = (tmp_path / "dust").rglob("*.jsonl")
        site.asked.clear()
        # What a page needs to be ready no log tells.
        ready = '-sDUST_RENDER_META={"splash": {"args": {"wait": 0.2}}}'
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "scrapy",
                "dustmine",
                "--json",
                *settings,
                *([ready] if by == "splash" else []),
                str(log),
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    mined = json.loads(done.stdout)
    verdicts = {one["text"]: one for one in mined["decisions"]}
    session = verdicts["sid=* → (left out)"]
    assert session["verdict"] == "valid"
    assert session["fetches"] > 0
    assert session["positive"] > session["from_log"]
    assert not [
        text for text, one in verdicts.items() if text.startswith("id=") and one["verdict"] == "valid"
    ]
    assert [path for path in site.asked if path.startswith("/p?id=") and "sid" not in path]
