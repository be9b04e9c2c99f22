r"""Lines that real programs wrote, or that their documentation shows: read to the right URL, status, size and redirect.

`docs/formats.md` says of each where the lines come from.
"""

from __future__ import annotations

import json
import re
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.crawl_log import read_visits
from scrapy_dust.crawl_log.accesses import iso_time
from scrapy_dust.crawl_log.format_detection import FORMATS, READERS, format_of
from scrapy_dust.crawl_log.proxy_logs import PROXIES
from scrapy_dust.errors import CrawlLogError
from tests.crawl_log.reading import read

BASE = "https://x.test"
TIME = "19/Nov/2026:13:35:23"
#: What Caddy 2.6.2 says of each request beside what is asked for here.
CADDY = '{"level":"info","ts":1795095237.968577,"logger":"http.log.access.log1","msg":"handled request","request":'
CADDY_ASKED = (
    '{"remote_ip":"127.0.0.1","remote_port":"40030","proto":"HTTP/2.0","method":"GET","host":"localhost:18443",'
    '"uri":"%s","headers":{"User-Agent":["curl/7.88.1"],"Accept":["*/*"]%s}%s}'
)
CADDY_TLS = (
    ',"tls":{"resumed":false,"version":772,"cipher_suite":4865,"proto":"h2","server_name":"localhost"}'
)
TRAEFIK = (
    '{"ClientHost":"127.0.0.1","DownstreamContentSize":%d,"DownstreamStatus":%d,"OriginStatus":200,"RequestAddr":'
    '"localhost:18194","RequestHost":"localhost","RequestMethod":"%s","RequestPath":"%s","RequestPort":"18194",'
    '"RequestProtocol":"HTTP/2.0","RequestScheme":"https","StartUTC":"2026-11-19T13:35:23.469488352Z","TLSVersion":"1.3",'
    '"downstream_Content-Type":"text/html"%s,"request_X-Forwarded-Proto":"https","time":"2026-11-19T13:35:23Z"}'
)
CLOUDFLARE = (
    '{"ClientIP":"10.0.0.1","ClientRequestHost":"host.domain.test","ClientRequestMethod":"%s","ClientRequestURI":'
    '"/cdn-cgi/images/cf-icon-cloud.png","EdgeEndTimestamp":"2020-10-13T19:49:36Z","EdgeResponseBytes":1895,'
    '"EdgeResponseStatus":200,"EdgeStartTimestamp":%s,"RayID":"5e1b95b9ea390cc5","CacheResponseBytes":0,'
    '"CacheResponseStatus":0,"ClientRequestPath":"/cdn-cgi/images/cf-icon-cloud.png","ClientRequestProtocol":"HTTP/1.1",'
    '"ClientSSLProtocol":"%s","OriginResponseStatus":200}'
)
ALB = (
    "%s 2018-07-02T22:23:00.186641Z app/my-loadbalancer/50dc6c495c0c9188 192.168.131.39:2817 10.0.0.1:80 "
    '0.000 0.001 0.000 %s 200 34 366 "%s HTTP/1.1" "curl/7.46.0" - - '
    "arn:aws:elasticloadbalancing:us-east-2:123456789012:targetgroup/my-targets/73e2d6bc24d8a067 "
    '"Root=1-58337262-36d228ad5d99923122bbe354" "-" "-" 0 2018-07-02T22:22:48.364000Z "forward" "%s" "-" "10.0.0.1:80" "200" "-" "-"'
)
ELB = (
    "2015-05-13T23:39:43.945958Z my-loadbalancer 192.168.131.39:2817 10.0.0.1:80 0.000086 0.001048 0.001337 200 200 0 57 "
    '"GET https://www.example.com:443/ HTTP/1.1" "curl/7.38.0" DHE-RSA-AES128-SHA TLSv1.2'
)
OWNER = "79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be"
S3 = (
    f"{OWNER} amzn-s3-demo-bucket1 [06/Feb/2019:00:00:38 +0000] 192.0.2.3 {OWNER} 3E57427F3EXAMPLE REST.GET.VERSIONING - "
    '"GET /amzn-s3-demo-bucket1?versioning HTTP/1.1" 200 - 113 - 7 - "-" "S3Console/0.4" -'
)
S3_TAIL = (
    " s9lzHYrFp76ZVxRcpX9+5cjAnEH2ROuNkd2BHfIa6UkFVdtjf5mKR3/eTPFvsiP/XV/VLi31234= SigV4 ECDHE-RSA-AES128-GCM-SHA256"
    " AuthHeader amzn-s3-demo-bucket1.s3.us-west-1.amazonaws.com %s arn:aws:s3:us-west-1:123456789012:accesspoint/example-AP Yes"
)
HAPROXY = f"127.0.0.1:41472 [{TIME}.096] %s web/s1 0/0/0/0/0 %s 253 - - ---- 1/1/0/0/0 0/0 %s"
TLS_TAIL = " 0/0000000000000000/0/0/0 localhost/TLSv1.3/TLS_AES_256_GCM_SHA384"
ENVOY = (
    '[2016-04-15T20:17:00.310Z] "%s /api/v1/locations HTTP/2" 204 - 154 0 226 100 "10.0.35.28" "nsq2http" '
    '"cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2" "locations" "tcp://10.0.2.1:80"'
)
ISTIO = (
    '[2019-03-06T09:31:27.360Z] "GET /status/418 HTTP/1.1" 418 - "-" 0 135 5 2 "-" "curl/7.60.0" '
    '"d209e46f-9ed5-9b61-bbdd-43e22662702a" "httpbin:8000" "127.0.0.1:80" inbound|8000|http|httpbin.default.svc - '
    "172.30.146.73:80 172.30.146.82:38618 outbound_.8000_._.httpbin.default.svc"
)
ISTIO_OF_TODAY = (
    '[2020-11-25T21:26:18.409Z] "GET /status/200 HTTP/1.1" 200 - via_upstream - "-" 0 135 3 1 "-" "curl/7.73.0-DEV" '
    '"84961386-6d84-929d-98bd-c5aee93b5c88" "httpbin:8000" "127.0.0.1:80" inbound|8000|| 127.0.0.1:41854 10.44.1.27:80'
)
SQUID = "1790735990.981 %6d 10.0.0.5 %s %s %s - HIER_DIRECT/192.0.2.1 text/html"
FORWARDED = ',"X-Forwarded-Proto":["https"]'
LOCATION = ',"downstream_Location":"http://localhost:18194/a.html"'


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("programs")


def common(request: str, status: str = "200", size: str = "39", tail: str = "") -> str:
    return f'127.0.0.1 - - [{TIME} +0000] "{request}" {status} {size}{tail}'


def caddy(uri: str, status: str, *, asked: str = "", tls: str = CADDY_TLS, answered: str = "") -> str:
    said = '"user_id":"","duration":0.000064,"size":39'
    return f'{CADDY}{CADDY_ASKED % (uri, asked, tls)},{said},"status":{status},"resp_headers":{{"Server":["Caddy"]{answered}}}}}'


@pytest.mark.parametrize(
    ("name", "line", "expected"),
    [
        # nginx 1.22.1, combined
        ("combined", common("GET /a.html?x=1&y=%C3%A9 HTTP/1.1", tail=' "-" "curl/7.88.1"'), (f"{BASE}/a.html?x=1&y=%C3%A9", 200, 39, None)),
        ("combined", common(r"GET /a.html?q=\x22\xC3\xA9 HTTP/1.1"), (f"{BASE}/a.html?q=%22%C3%A9", 200, 39, None)),
        # Apache 2.4.71, vhost_combined and common
        ("combined", "localhost:18445 " + common("GET /old HTTP/1.1", "301", "2488", ' "-" "curl"'), (f"{BASE.replace('x.test', 'localhost')}/old", 301, None, None)),
        ("combined", common(r"GET /a.html?q=\"\xc3\xa9 HTTP/1.1"), (f"{BASE}/a.html?q=%22%C3%A9", 200, 39, None)),
        # Traefik 3.7.15, which escapes nothing in its Common lines
        ("combined", common('GET /a.html?q="é HTTP/1.1', tail=' "-" "-" 5 "a@file" "http://127.0.0.1:18083" 0ms'), (f"{BASE}/a.html?q=%22%C3%A9", 200, 39, None)),
        ("access-json", TRAEFIK % (39, 200, "GET", r"/a.html?x=1\u0026y=%C3%A9", ""), ("https://localhost:18194/a.html?x=1&y=%C3%A9", 200, 39, None)),
        ("access-json", TRAEFIK % (277, 301, "GET", "/old", LOCATION), ("https://localhost:18194/old", 301, None, "http://localhost:18194/a.html")),
        # Caddy 2.6.2
        ("access-json", caddy("/a.html?x=1", "200"), ("https://localhost:18443/a.html?x=1", 200, 39, None)),
        ("access-json", caddy("/a.html", "200", tls=""), ("http://localhost:18443/a.html", 200, 39, None)),
        ("access-json", caddy("/a.html", "200", asked=FORWARDED, tls=""), ("https://localhost:18443/a.html", 200, 39, None)),
        ("access-json", caddy("/old", "301", answered=',"Location":["/a.html"],"Content-Type":[]'), ("https://localhost:18443/old", 301, None, "https://localhost:18443/a.html")),
        # Cloudflare Logpush, as IBM's guide shows it
        ("access-json", CLOUDFLARE % ("GET", '"2020-10-13T19:49:36Z"', "none"), ("http://host.domain.test/cdn-cgi/images/cf-icon-cloud.png", 200, 1895, None)),
        ("access-json", CLOUDFLARE % ("GET", "1602618576000000000", "TLSv1.3"), ("https://host.domain.test/cdn-cgi/images/cf-icon-cloud.png", 200, 1895, None)),
        ("alb", ALB % ("http", "200", "GET http://www.example.com:80/", "-"), ("http://www.example.com/", 200, 366, None)),
        ("alb", ALB % ("h2", "200", "GET https://10.0.1.252:48160/", "-"), ("https://10.0.1.252:48160/", 200, 366, None)),
        ("alb", ALB % ("http", "301", "GET http://www.example.com:80/a", "https://www.example.com:443/a"), ("http://www.example.com/a", 301, None, "https://www.example.com/a")),
        ("elb", ELB, ("https://www.example.com/", 200, 57, None)),
        ("s3", S3 + S3_TAIL % "TLSV1.2", ("https://amzn-s3-demo-bucket1.s3.us-west-1.amazonaws.com/amzn-s3-demo-bucket1?versioning", 200, 113, None)),
        ("s3", S3 + S3_TAIL % "-", ("http://amzn-s3-demo-bucket1.s3.us-west-1.amazonaws.com/amzn-s3-demo-bucket1?versioning", 200, 113, None)),
        ("s3", S3, (f"{BASE}/amzn-s3-demo-bucket1?versioning", 200, 113, None)),
        # HAProxy 2.6.12: httplog, with captures, httpslog
        ("haproxy", HAPROXY % ("plain", "200", '"GET /a.html?x=1&y=%C3%A9 HTTP/1.1"'), (f"{BASE}/a.html?x=1&y=%C3%A9", 200, 253, None)),
        ("haproxy", HAPROXY % ("caps", "301", '{localhost:18091} {http://localhost:18091/a.html} "GET /old HTTP/1.1"'), ("https://localhost/old", 301, None, "http://localhost:18091/a.html")),
        ("haproxy", HAPROXY % ("caps", "200", '{www.a.test|curl/7.88.1} "GET / HTTP/1.1"'), ("https://www.a.test/", 200, 253, None)),
        ("haproxy", HAPROXY % ("tls~", "200", '"GET https://localhost:18446/a.html?q=#22#C3#A9 HTTP/2.0"' + TLS_TAIL), ("https://localhost:18446/a.html?q=%22%C3%A9", 200, 253, None)),
        # With option logasap, before the answer has ended
        ("haproxy", (HAPROXY % ("plain", "200", '"GET / HTTP/1.1"')).replace("0/0/0/0/0 ", "0/0/0/0/+7 ").replace(" 253 ", " +253 "), (f"{BASE}/", 200, None, None)),
        # As syslog writes it down
        ("haproxy", "Nov 19 13:35:23 host haproxy[143]: " + HAPROXY % ("plain", "200", '"GET / HTTP/1.1"'), (f"{BASE}/", 200, 253, None)),
        ("envoy", ISTIO, ("https://httpbin/status/418", 418, None, None)),
        ("envoy", ISTIO_OF_TODAY, ("https://httpbin/status/200", 200, 135, None)),
        ("squid", SQUID % (42, "TCP_MISS/200 951", "GET", "http://a.test/p?id=7"), ("http://a.test/p?id=7", 200, 951, None)),
        ("squid", SQUID % (1234567, "TCP_REFRESH_UNMODIFIED/304 310", "GET", "https://a.test:8443/"), ("https://a.test:8443/", 200, None, None)),
        ("squid", SQUID % (-1, "TCP_MEM_HIT/404 1200", "GET", "http://a.test/%C3%A9"), ("http://a.test/%C3%A9", 404, None, None)),
        ("envoy", ENVOY % "GET", ("https://locations/api/v1/locations", 204, None, None)),
    ],
)  # fmt: skip
def test_a_line_of_the_program_says_what_the_program_did(folder, name, line, expected):
    assert format_of("some.log", [line.encode() + b"\n"]) == name
    needs_base = expected[0].startswith(
        ("https://x.test", "https://locations", "https://httpbin", "https://localhost/", "https://www.a.test")
    )
    visits, reading = read(folder, line, format=name, **({"base_url": BASE} if needs_base else {}))
    (visit,) = visits
    size = None if expected[2] is None else (expected[2], expected[2])
    assert (visit.url, visit.status, visit.size, visit.redirect_to) == (*expected[:2], size, expected[3])
    assert visit.fetched_at
    assert (reading.unreadable_count, reading.passed_over) == (0, 0)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("haproxy", HAPROXY % ("plain", "200", '"POST /a.html HTTP/1.1"')),
        ("haproxy", HAPROXY.replace("s1", "<NOSRV>") % ("plain", "400", '"<BADREQ>"')),
        ("haproxy", HAPROXY % ("plain", "-1", '"GET / HTTP/1.1"')),
        ("envoy", ENVOY % "POST"),
        ("squid", SQUID % (42, "TCP_MISS/200 951", "POST", "http://a.test/")),
        ("squid", SQUID % (42, "TCP_TUNNEL/200 951", "CONNECT", "a.test:443")),
        ("squid", SQUID % (0, "TCP_DENIED/407 3456", "GET", "http://a.test/")),
        ("squid", SQUID % (0, "NONE/400 3456", "GET", "http://a.test/")),
        ("squid", SQUID % (42, "TCP_MISS_ABORTED/200 951", "GET", "http://a.test/")),
        ("squid", SQUID % (0, "NONE_NONE/400 3800", "GET", "error:invalid-request")),
        # Its query is left out: of which page the line speaks, nobody can tell.
        ("squid", SQUID % (42, "TCP_MISS/200 951", "GET", "http://a.test/p?")),
        ("access-json", CLOUDFLARE % ("POST", "1602618576000000000", "TLSv1.3")),
        ("alb", ALB % ("http", "200", "POST http://www.example.com:80/", "-")),
        ("alb", ALB % ("ws", "101", "GET http://10.0.0.30:80/", "-")),
    ],
)
def test_what_shows_no_page_is_passed_over(folder, name, line):
    with pytest.raises(CrawlLogError, match="no request that shows a page"):
        read(folder, line, format=name, base_url=BASE)


def test_a_name_for_traefik_reads_both_of_its_formats(folder):
    for line in (
        common("GET /a HTTP/1.1", tail=' "-" "-" 5 "a@file" "http://127.0.0.1:18083" 0ms'),
        TRAEFIK % (39, 200, "GET", "/a", ""),
    ):
        assert len(read(folder, line, format="traefik", base_url=BASE)[0]) == 1


def test_a_port_that_cannot_be_is_a_line_that_cannot_be_read(folder):
    lines = [f"a.test:{port} " + common(f"GET /{port} HTTP/1.1") for port in (80, 99999, 443, "9" * 5000)]
    visits, reading = read(folder, *lines)
    assert [visit.url for visit in visits] == ["http://a.test/80", "https://a.test/443"]
    assert [bad.line for bad in reading.unreadable] == [2, 4]
    assert reading.unreadable[0].reason == "'99999' is no port"


@pytest.mark.parametrize(
    "said",
    ["9" * 400, "1" * 30, "²", "1e5", ".", "2026-13-40", "19/Foo/2026:00:00:00 +0000", "-1", "nan", ""],
)
def test_a_time_that_cannot_be_is_none(said):
    assert iso_time(said) is None


@pytest.mark.parametrize(
    ("host", "url"),
    [("a.test:²", "http://a.test/"), ("a.test:0443", "https://a.test/"), ("a.test:00", "http://a.test/")],
)
def test_a_port_is_a_number(folder, host, url):
    text = json.dumps({"request": "GET / HTTP/1.1", "status": 200, "host": host})
    assert read(folder, text)[0][0].url == url


@pytest.mark.parametrize("name", list(PROXIES))
@pytest.mark.parametrize(
    "piece", ['"', " ", "[", "{", "a|", "1/", "\\", '" 200', "#22", '"GET / HTTP/1.1" 200 5 ', "- "]
)
def test_a_line_is_matched_in_linear_time_whatever_it_is(name, piece):
    begun = time.process_time()
    for begin in ("", HAPROXY % ("f", "200", '"GET '), ALB % ("http", "200", "GET ", "-"), S3, ISTIO):
        PROXIES[name].match(begin + piece * 20_000)
    assert time.process_time() - begun < 5


def test_one_line_without_its_end_is_told_of_the_base_url(folder):
    path = folder / "one.log"
    path.write_text(common("GET /a HTTP/1.1"))
    with pytest.raises(CrawlLogError, match=r"its requests name no host.*--base-url"):
        list(read_visits(path))


def test_each_format_names_its_sample_in_the_docs():
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text("utf-8")
    table = page[page.index("|---|") :]
    assert set(re.findall(r"^\| `([\w-]+)`", table, re.MULTILINE)) == set(READERS)
    assert set(FORMATS) - set(READERS) == {"auto"}


def test_variables_of_nginx_are_not_apaches(folder):
    """Apache's `%t`, `%h` and `%u` have forms of their own; nginx' `$t`, `$h` and `$u` are whatever a project sets."""
    line, log_format = '- | noon | some one | "GET /a HTTP/1.1" 200', '$h | $t | $u | "$request" $status'
    (visit,), _ = read(folder, line, log_format=log_format, base_url=BASE)
    assert visit.url == f"{BASE}/a"


SPOILT_BY = ('"', " ", "\t", "[", "{", "|", "\\", ":99999", "²", "-1", "1e400", "9" * 400, "%", "#zz", "\udc80", "//", "http://[", "NaN", "2026-13-45")  # fmt: skip
WHOLE = {
    "alb": ALB % ("http", "200", "GET http://www.example.com:80/", "-"),
    "elb": ELB,
    "s3": S3 + S3_TAIL % "TLSV1.2",
    "haproxy": HAPROXY % ("tls~", "301", '{localhost:1|x} {http://localhost/a} "GET /a?q=#22 HTTP/1.1"'),
    "envoy": ISTIO_OF_TODAY,
    "traefik": common("GET /a HTTP/1.1", tail=' "-" "-" 5 "a@file" "http://127.0.0.1:18083" 0ms'),
    "access-json": caddy("/old", "301", asked=FORWARDED, answered=',"Location":["/a.html"]'),
}


@pytest.mark.parametrize("name", list(WHOLE))
@given(spoils=st.lists(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 0.2), st.sampled_from(SPOILT_BY)), max_size=3), min_size=1, max_size=6))  # fmt: skip
def test_each_line_is_counted_once_however_it_is_spoilt(folder, name, spoils):
    lines = []
    for spoil in spoils:
        line = WHOLE[name]
        for at, length, piece in spoil:
            place = int(at * len(line))
            line = line[:place] + piece + line[place + int(length * len(line)) :]
        lines.append(line.encode("utf-8", "surrogateescape"))
    path = folder / f"{name}.log"
    path.write_bytes(b"\n".join(lines))
    for log_format in (name, "auto"):
        reading = read_visits(path, log_format, base_url=BASE)
        with suppress(CrawlLogError):
            seen = sum(1 for _ in reading)
            assert seen == reading.records
            assert seen + reading.passed_over + reading.unreadable_count + reading.torn == len(lines)
