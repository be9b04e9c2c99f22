"""What is exported for nginx, in a real nginx on loopback: its variable is the key, as a redirect and as a cache key.

$DUST_NGINX is another nginx than the one on the path.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path
from typing import Self

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
from tests.exchange.generated import SITES, some_rules, some_urls
from tests.waiting import PATIENCE, wait_until

NGINX = shutil.which(os.environ.get("DUST_NGINX", "nginx")) or "/usr/sbin/nginx"

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not Path(NGINX).exists(), reason="nginx is not installed"),
]

RULES = [
    Rule.of(DropParameter("sid")),
    # As it is imported.
    Rule.of(DropParameter("ref"), where=(BY_AMPERSAND,)),
    Rule.of(SetParameter("l", "en")),
    Rule.of(Substitute("/index.html", "/", end=True)),
    Rule.of(Substitute("story?id=", "story_")),
    Rule.of(Substitute("a%20b", "x%20y")),
    Rule.of(Substitute('"quoted"', "plain")),
]

#: One worker, in the foreground, with all its files in one folder.
CONFIGURATION = """\
daemon off;
master_process off;
pid {folder}/pid;
error_log {folder}/errors;
events {{ }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  map_hash_bucket_size 512;
  variables_hash_max_size 4096;
{rules}
  server {{
    listen 127.0.0.1:{port};
    server_name _;
    merge_slashes off;
{places}
  }}
}}
"""


class Nginx:
    """A running one, that is stopped at the end."""

    def __init__(self, folder: Path, rules: str, places: str) -> None:
        self.port = free_port()
        file = folder / "nginx.conf"
        file.write_text(
            CONFIGURATION.format(
                folder=folder,
                port=self.port,
                rules=rules.replace("PORT", str(self.port)),
                places=places.replace("PORT", str(self.port)),
            )
        )
        # -e: before it has read its configuration it would write to the system's log.
        self._process = subprocess.Popen(
            [NGINX, "-e", str(folder / "errors"), "-p", str(folder), "-c", str(file)],
            stderr=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        wait_until(self._answers)
        return self

    def _answers(self) -> bool:
        assert self._process.poll() is None, self._process.communicate()[1]
        try:
            answer(self.port, "/")
        except OSError:
            return False
        return True

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.communicate(timeout=PATIENCE)


def paths():
    chance = random.Random(2)
    for _ in range(200):
        path = chance.choice(
            ("/", "/a", "/a/index.html", "/story", "/a%20b/c", "/a;sid=3/b", "/a%3Fb", '/"quoted"')
        )
        names = chance.choices(
            ("id=7", "sid=1", "sid=%3F", "l=de", "l=en", "q", "x=%2F", "ref", "ref=1"), k=chance.randint(0, 3)
        )
        yield path + ("?" + "&".join(names) if names else "")


def test_each_url_is_redirected_to_its_key_and_a_key_is_not(tmp_path):
    port = free_port()
    site = f"127.0.0.1:{port}"
    found = exported({site: [Entry(rule) for rule in RULES]}, "nginx")
    assert not found.unsaid
    name = _variable(found.text)
    # As the export's own comment has it.
    assert f"if (${name} != ${name}_url) {{ return 301 ${name}; }}" in found.text
    places = f"location / {{ if (${name} != ${name}_url) {{ return 301 ${name}; }} return 404; }}"
    rules = found.text.replace(f":{port}", ":PORT")
    with Nginx(tmp_path, rules.replace(str(port), "PORT"), places.replace(str(port), "PORT")) as nginx:
        canonize = Canonizer({f"127.0.0.1:{nginx.port}": RULES}, site_of).canonize
        redirected = 0
        for path in paths():
            form, hops = followed(nginx.port, path)
            here = f"http://127.0.0.1:{nginx.port}"
            assert form == canonize(here + path).removeprefix(here)
            redirected += hops > 0
    assert redirected > 100


def test_generated_rules_compute_the_keys_that_python_does(tmp_path):
    """A server for each rule of several sites; the answer is what nginx makes of the URL."""
    maps, places, rules = [], [], []
    for seed, site in enumerate(SITES):
        for rule in some_rules(seed + 20, 25):
            found = exported({site: [Entry(rule)]}, "nginx")
            if found.unsaid:
                continue
            number = len(rules)
            name = _variable(found.text)
            # Each rule has names of its own, and is asked with the URL in a header.
            text = found.text.replace(f"$dust_{name.removeprefix('dust_')}", f"$dust_rule{number}")
            url = f"$dust_rule{number}_url"
            text = "\n".join(line for line in text.splitlines() if line.startswith("map $dust")).replace(
                url, "$http_x_url"
            )
            maps.append(text)
            places.append(f'location = /{number} {{ return 200 "$dust_rule{number}"; }}')
            rules.append((site, rule))
    urls = [url.partition("#")[0] for url in some_urls(3, 25)]
    tried = 0
    with Nginx(tmp_path, "\n".join(maps), "\n".join(places)) as nginx:
        for number, (site, rule) in enumerate(rules):
            canonize = Canonizer({site: [rule]}, site_of).canonize
            for url in urls:
                if site_of(url) != site:
                    continue
                made = url
                for _ in range(4):
                    made = answer(nginx.port, f"/{number}", {"X-Url": made.encode()})[1]
                assert made == canonize(url), (rule, url)
                tried += 1
    assert (len(rules) > 60, tried > 300) == (True, True)


def _variable(text):
    """The name of the variable that is the key."""
    return text.splitlines()[1].partition("$")[2].partition(" ")[0]
