"""What is exported for Apache, in a real Apache on loopback: it redirects each URL to its key, and no key."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from scrapy_dust.exchange import exported
from scrapy_dust.exchange.transfer import BY_AMPERSAND
from scrapy_dust.rule_book import Entry
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.parameters import DropParameter, SetParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute
from scrapy_dust.sites import site_of
from tests.crawl.site import free_port
from tests.e2e.asking import answer, followed
from tests.waiting import PATIENCE, wait_until

APACHE = shutil.which("apache2") or "/usr/sbin/apache2"
MODULES = Path("/usr/lib/apache2/modules")

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(
        not (Path(APACHE).exists() and MODULES.is_dir()), reason="Apache is not installed as Debian has it"
    ),
]

RULES = [
    Rule.of(DropParameter("sid")),
    # As it is imported.
    Rule.of(DropParameter("ref"), where=(BY_AMPERSAND,)),
    Rule.of(SetParameter("l", "en")),
    Rule.of(Substitute("/index.html", "/", end=True)),
    Rule.of(Substitute("story?id=", "story_")),
    Rule.of(Substitute("a%20b", "x%20y")),
]

CONFIGURATION = """\
ServerRoot {folder}
PidFile {folder}/pid
ServerName 127.0.0.1
Listen 127.0.0.1:{port}
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule rewrite_module {modules}/mod_rewrite.so
ErrorLog {folder}/errors
DocumentRoot {folder}
<VirtualHost *:{port}>
{rules}
</VirtualHost>
"""


@pytest.fixture
def apache(tmp_path):
    """Its port."""
    port = free_port()
    found = exported({f"127.0.0.1:{port}": [Entry(rule) for rule in RULES]}, "apache")
    assert not found.unsaid
    file = tmp_path / "httpd.conf"
    file.write_text(CONFIGURATION.format(folder=tmp_path, port=port, modules=MODULES, rules=found.text))
    server = subprocess.Popen([APACHE, "-f", str(file), "-X"], stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: server.poll() is not None or _answers(port))
        assert server.poll() is None, (tmp_path / "errors").read_text()
        yield port
    finally:
        server.terminate()
        server.wait(PATIENCE)


def _answers(port):
    try:
        answer(port, "/")
    except OSError:
        return False
    return True


def paths():
    chance = random.Random(1)
    for _ in range(150):
        path = chance.choice(("/", "/a", "/a/index.html", "/story", "/a%20b/c", "/a;sid=3/b", "/a%3Fb"))
        names = chance.choices(
            ("id=7", "sid=1", "sid=%3F", "l=de", "l=en", "q", "x=%2F", "ref", "ref=1"), k=chance.randint(0, 3)
        )
        yield path + ("?" + "&".join(names) if names else "")


def test_each_url_is_redirected_to_its_key_and_a_key_is_not(apache):
    site = f"127.0.0.1:{apache}"
    canonize = Canonizer({site: RULES}, site_of).canonize
    redirected = 0
    for path in paths():
        key = canonize(f"http://{site}{path}").removeprefix(f"http://{site}")
        form, hops = followed(apache, path)
        assert form == key
        redirected += hops > 0
    assert redirected > 80
