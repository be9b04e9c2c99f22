"""Access logs as real servers write them, on loopback: nginx, Apache, Caddy, HAProxy and Traefik, where they are installed.

What was asked is what is read. `docs/formats.md` names the versions that were tried.
"""

from __future__ import annotations

import http.client
import os
import shutil
import subprocess
from contextlib import contextmanager

import pytest

from scrapy_dust.crawl_log import read_visits
from tests.crawl.site import error, free_port, page, redirect, serving
from tests.e2e.asking import answer
from tests.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.e2e

#: Debian has servers where only root's PATH looks.
SEARCHED = f"{os.environ.get('PATH', '')}:/usr/local/sbin:/usr/sbin"
LIBRARIES = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
ASKED = ("/a.html?x=1&y=%C3%A9", "/old", "/missing")
NGINX = """\
daemon off; master_process off; pid {folder}/pid; error_log {folder}/errors; events {{ }}
http {{
  client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  log_format json escape=json '{{"time":"$time_iso8601","request":"$request","status":$status,'
    '"body_bytes_sent":$body_bytes_sent,"http_host":"$http_host","sent_http_location":"$sent_http_location"}}';
  access_log {folder}/{log} {style};
  server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://127.0.0.1:{behind}; proxy_redirect off; }} }}
}}
"""
CADDY = """\
{{
  admin off
  auto_https off
}}
http://127.0.0.1:{port} {{
  log {{
    output file {folder}/{log}
  }}
  reverse_proxy 127.0.0.1:{behind}
}}
"""
HAPROXY = """\
global
  log stdout format raw local0
defaults
  mode http
  log global
  timeout connect 5s
  timeout client 5s
  timeout server 5s
frontend front
  bind 127.0.0.1:{port}
  {style}
  default_backend back
backend back
  server one 127.0.0.1:{behind}
"""
APACHE = """\
ServerRoot {folder}
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule proxy_module /usr/lib/apache2/modules/mod_proxy.so
LoadModule proxy_http_module /usr/lib/apache2/modules/mod_proxy_http.so
ServerName 127.0.0.1:{port}
Listen 127.0.0.1:{port}
PidFile {folder}/pid
ErrorLog {folder}/errors
Mutex pthread
ProxyPass / http://127.0.0.1:{behind}/
LogFormat "%v:%p %h %l %u %t \\"%r\\" %>s %b \\"%{{Referer}}i\\" \\"%{{User-Agent}}i\\"" vhost
CustomLog {folder}/{log} {style}
"""
TRAEFIK = """\
entryPoints:
  web: {{address: "127.0.0.1:{port}"}}
accessLog: {{filePath: {folder}/{log}, {style}}}
providers: {{file: {{filename: {folder}/routes.yml}}}}
global: {{checkNewVersion: false, sendAnonymousUsage: false}}
"""
ROUTES = """\
http:
  routers: {{all: {{rule: PathPrefix(`/`), service: one}}}}
  services: {{one: {{loadBalancer: {{servers: [{{url: "http://127.0.0.1:{behind}"}}]}}}}}}
"""
KEPT = "format: json, fields: {headers: {defaultMode: keep}}"
#: Whose lines name no host.
HOSTLESS = ("combined", "option httplog", "format: common")
CAPTURED = "option httplog\n  capture request header Host len 64\n  capture response header Location len 128"


def web(path):
    if path == "/old":
        return redirect("/a.html", 301)
    return page() if path.startswith("/a.html") else error(404)


@pytest.mark.parametrize(
    ("program", "options", "configuration", "style", "name"),
    [
        ("nginx", ("-e", "{folder}/errors", "-c", "{file}"), NGINX, "combined", "combined"),
        ("nginx", ("-e", "{folder}/errors", "-c", "{file}"), NGINX, "json", "access-json"),
        ("apache2", ("-DFOREGROUND", "-f", "{file}"), APACHE, "vhost", "combined"),
        ("caddy", ("run", "--adapter", "caddyfile", "--config", "{file}"), CADDY, "", "access-json"),
        ("haproxy", ("-f", "{file}"), HAPROXY, "option httplog", "haproxy"),
        ("haproxy", ("-f", "{file}"), HAPROXY, CAPTURED, "haproxy"),
        ("traefik", ("--configFile={file}",), TRAEFIK, "format: common", "combined"),
        ("traefik", ("--configFile={file}",), TRAEFIK, KEPT, "access-json"),
    ],
)
def test_what_was_asked_of_a_server_is_read_of_its_log(
    tmp_path, program, options, configuration, style, name
):
    found = shutil.which(program, path=SEARCHED)
    if found is None:
        pytest.skip(f"{program} is not installed")
    log = tmp_path / ("stdout" if program == "haproxy" else "access.log")
    with serving(web) as site:
        port = free_port()
        said = {"folder": tmp_path, "port": port, "behind": site.port, "log": log.name, "style": style}
        file = tmp_path / ("file.yml" if program == "traefik" else "file")
        file.write_text(configuration.format(**said))
        (tmp_path / "routes.yml").write_text(ROUTES.format(**said))
        command = [found, *(one.format(folder=tmp_path, file=file) for one in options)]
        base = f"http://127.0.0.1:{port}"
        asked = [f"{base}{path}" for path in ASKED]

        def read():
            visits = read_visits(log, name, base_url=base if style in HOSTLESS else None)
            return [one for one in visits if "/ready" not in one.url]

        with running(command, tmp_path, port):
            answers = [answer(port, path) for path in ASKED]
            post(port)
            # Servers of several processes write in any order.
            wait_until(lambda: b"POST" in log.read_bytes() and len(read()) >= len(asked))
    visits = read()
    assert sorted(one.url for one in visits) == sorted(asked)
    visits.sort(key=lambda one: asked.index(one.url))
    assert [one.status for one in visits] == [200, 301, 404]
    assert visits[0].size is not None
    # HAProxy counts the headers too.
    assert visits[0].size[0] >= len(answers[0][1].encode())
    if name == "access-json" or style == CAPTURED:
        assert visits[1].redirect_to == f"{base}/a.html"


@contextmanager
def running(command, folder, port):
    """A server, once it passes requests on."""
    environment = {"HOME": str(folder), "PATH": SEARCHED, **LIBRARIES}
    with (folder / "stdout").open("wb") as stdout, (folder / "stderr").open("wb") as stderr:
        process = subprocess.Popen(command, stdout=stdout, stderr=stderr, env=environment)
        try:
            wait_until(lambda: process.poll() is not None or is_passed_on(port))
            assert process.poll() is None, (folder / "stderr").read_text()
            yield
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE)


def is_passed_on(port):
    try:
        return answer(port, "/ready")[1] == "no"
    except (OSError, http.client.HTTPException):
        return False


def post(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("POST", "/a.html", body=b"x=1")
    connection.getresponse().read()
    connection.close()
