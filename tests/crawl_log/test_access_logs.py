from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.crawl_log import access_json, read_visits
from scrapy_dust.crawl_log.log_formats import KNOWN, matcher_of
from scrapy_dust.errors import CrawlLogError
from scrapy_dust.visits.pages import Visit, merge_visits
from tests.crawl_log.reading import bad_lines, read, urls

BASE = "http://a.test"
# https://nginx.org/en/docs/http/ngx_http_log_module.html, and what most add to it
NGINX = (
    '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" '
    '"$http_user_agent" "$http_x_forwarded_for" $scheme://$host:$server_port $request_time'
)
# https://httpd.apache.org/docs/2.4/logs.html
COMMON = '127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326'
COMBINED = COMMON + ' "http://www.example.com/start.html" "Mozilla/4.08 [en] (Win98; I ;Nav)"'
SHOWN = Visit(f"{BASE}/apache_pb.gif", 200, (2326, 2326), fetched_at="2000-10-10T20:55:36Z")


def line(request: str, status: str = "200", size: str = "100") -> str:
    return f'1.2.3.4 - - [18/Nov/2026:07:24:36 +0000] "{request}" {status} {size} "-" "curl/8.5.0"'


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("access")


@pytest.mark.parametrize(
    "text",
    [
        COMMON,
        COMBINED,
        f"a.test:80 {COMBINED}",
        f"a.test {COMBINED}",
        f"a.test {COMMON}",
        f"{COMBINED} a.test",
        f"{COMMON} a.test",
        f'{COMBINED} "a.test"',
        f'{COMBINED} "a.test" 0.003 HIT',
        f'{COMBINED} "10.0.0.7" 0.003 0.002 .',
        # The quote that closes the user agent is missing, or was never escaped.
        COMBINED[:-1],
        COMBINED.replace("I ;", 'I "quoted" ;'),
        COMMON.replace("frank", "frank  von O'Neill"),
        COMMON.replace("127.0.0.1", "2001:db8::7"),
    ],
)
def test_common_combined_and_their_variants_are_known_by_their_lines(folder, text):
    visits, reading = read(folder, text, text, base_url=BASE)
    assert visits == [SHOWN, SHOWN]
    assert (reading.passed_over, reading.unreadable_count) == (0, 0)


def test_the_host_of_the_line_counts_before_the_base_url(folder):
    text = f"shop.b.test:443 {COMBINED}"
    assert urls(read(folder, text)[0]) == ["https://shop.b.test/apache_pb.gif"]
    assert urls(read(folder, text, base_url="http://x.test/front")[0]) == [
        "http://shop.b.test/front/apache_pb.gif"
    ]
    other_port = f"shop.b.test:8080 {COMBINED}"
    assert urls(read(folder, other_port)[0]) == ["http://shop.b.test:8080/apache_pb.gif"]


def test_servers_for_development_write_neither_zone_nor_size(folder):
    text = '127.0.0.1 - - [18/Nov/2026 07:24:36] "GET /?sort=name HTTP/1.1" 200 -'
    (visit,), _ = read(folder, text, base_url=BASE)
    assert visit == Visit(f"{BASE}/?sort=name", 200, fetched_at="2026-11-18T07:24:36Z")


def test_a_log_without_hosts_needs_to_be_told_one(folder):
    with pytest.raises(CrawlLogError, match=r"its requests name no host\. Say which site .* --base-url"):
        read(folder, COMBINED)
    for wrong in ("a.test", "ftp://a.test", "http://", "http://a.test/?q=1"):
        with pytest.raises(ValueError, match="--base-url must be like https://www"):
            read_visits(folder, base_url=wrong)


def test_only_requests_that_show_a_page_count(folder):
    passed = [
        line("POST /form HTTP/1.1"),
        line("HEAD / HTTP/1.1"),
        line("OPTIONS * HTTP/1.1"),
        line("CONNECT a.test:443 HTTP/1.1", "405"),
        line("PRI * HTTP/2.0"),
        line("-", "408"),
        line(r"\x16\x03\x01\x02\x00\x01", "400"),
        line(r"\x03\x00\x00/*\xE0\x00\x00\x00\x00\x00Cookie: mstshash=Administr", "400"),
        line("", "400"),
        line("GET", "400"),
        line("GET  HTTP/1.1", "400"),
        line("GET foo.html HTTP/1.1", "400"),
        line("GET /left HTTP/1.1", "499", "0"),
    ]
    visits, reading = read(folder, *passed, line("GET /page HTTP/1.1"), base_url=BASE)
    assert urls(visits) == [f"{BASE}/page"]
    assert (reading.passed_over, reading.unreadable_count) == (len(passed), 0)
    with pytest.raises(CrawlLogError, match="no request that shows a page"):
        read(folder, *passed, base_url=BASE)


def test_only_a_200_says_how_long_the_page_is(folder):
    visits, _ = read(
        folder,
        line("GET /p HTTP/1.1", "200", "500"),
        line("GET /p HTTP/1.1", "206", "7"),
        line("GET /p HTTP/1.1", "304", "0"),
        line("GET /p HTTP/1.1", "200", "520"),
        line("GET /unchanged HTTP/1.1", "304", "-"),
        line("GET /moved HTTP/1.1", "301", "230"),
        line("GET /gone HTTP/1.1", "404", "99"),
        base_url=BASE,
    )
    log = merge_visits(visits)
    assert [(page.url, page.size) for page in log.pages] == [
        (f"{BASE}/p", (500, 520)),
        (f"{BASE}/unchanged", None),
    ]
    assert log.failures == {f"{BASE}/gone"}


@pytest.mark.parametrize(
    ("target", "url"),
    [
        ("http://Other.test/x?y", "http://other.test/x?y"),
        ("http://other.test:80/x", "http://other.test/x"),
        ("HTTPS://user:pass@other.test:443?y", "https://other.test/?y"),
        ("https://other.test:8443/x", "https://other.test:8443/x"),
        ("//a//b", f"{BASE}//a//b"),
        ("/a b.html", f"{BASE}/a%20b.html"),
        (r"/\xd7\xa9", f"{BASE}/%D7%A9"),
        (r"/q?a=\x22b\x22", f"{BASE}/q?a=%22b%22"),
        (r"/q?a=\"b\"", f"{BASE}/q?a=%22b%22"),
        (r"/back\\slash", f"{BASE}/back%5Cslash"),
        ("/ünï", f"{BASE}/%C3%BCn%C3%AF"),
        ("/%41%2f%zz?a[]=1&b='(2)'", f"{BASE}/%41%2f%zz?a[]=1&b='(2)'"),
    ],
)
def test_a_url_is_made_of_the_bytes_the_client_sent(folder, target, url):
    assert urls(read(folder, line(f"GET {target} HTTP/1.1"), base_url=BASE)[0]) == [url]


def test_bytes_that_are_no_utf_8_are_a_clients_too(folder):
    raw = line("GET /caf@ HTTP/1.1").encode().replace(b"@", b"\xe9")
    assert urls(read(folder, raw, base_url=BASE)[0]) == [f"{BASE}/caf%E9"]


@pytest.mark.parametrize(
    ("log_format", "text", "url", "size"),
    [
        (
            r"%v:%p %h %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\"",
            f"a.test:443 {COMBINED}",
            "https://a.test/apache_pb.gif",
            2326,
        ),
        (
            "%t %{Host}i %m %U%q %H %>s %B %D",
            "[10/Oct/2000:13:55:36 -0700] a.test GET /x?y=1 HTTP/1.1 200 9 12",
            "http://a.test/x?y=1",
            9,
        ),
        (
            '%{%Y-%m-%dT%H:%M:%S}t|%V|"%r"|%s|%>s|%b',
            '2026-11-18T07:24:36|a.test|"GET /x HTTP/1.1"|302|200|7',
            "http://a.test/x",
            7,
        ),
        (
            "%a %^FB %r %>s %b %{X-Forwarded-Proto}i %v",
            "1.2.3.4 - GET /x HTTP/1.1 200 7 https a.test",
            "https://a.test/x",
            7,
        ),
        (
            NGINX,
            f'{COMBINED} "1.1.1.1, 2.2.2.2" https://a.test:443 0.1',
            "https://a.test/apache_pb.gif",
            2326,
        ),
        (
            "$msec\t$http_host\t$request_method\t$request_uri\t$status\t$bytes_sent",
            "1763450676.123\ta.test:81\tGET\t/x?y\t200\t7",
            "http://a.test:81/x?y",
            7,
        ),
        (
            "[$time_iso8601] $server_name $request_method ${uri}$is_args$args $status $body_bytes_sent",
            "[2026-11-18T07:24:36+01:00] a.test GET /x?y 200 7",
            "http://a.test/x?y",
            7,
        ),
        (
            '{"at":"$time_iso8601","u":"$request_uri","h":"$host","s":$status,"b":$body_bytes_sent}',
            '{"at":"2026-11-18T07:24:36+01:00","u":"/x?a=\\"","h":"a.test","s":200,"b":7}',
            "http://a.test/x?a=%22",
            7,
        ),
    ],
)
def test_any_format_string_of_apache_or_nginx_will_do(folder, log_format, text, url, size):
    (visit,), reading = read(folder, text, log_format=log_format)
    assert (visit.url, visit.status, visit.size) == (url, 200, (size, size))
    assert reading.unreadable_count == 0
    assert visit.fetched_at is None or visit.fetched_at.endswith("Z")


def test_a_format_may_say_where_redirects_lead(folder):
    (visit,), _ = read(folder, "GET /old 301 /new a.test", log_format="%m %U%q %>s %{Location}o %{Host}i")
    assert visit.redirect_to == "http://a.test/new"


@pytest.mark.parametrize(
    ("log_format", "said"),
    [
        ("%h %t %>s", "has no request in it"),
        ("", "has no request in it"),
        ("%h%r %s", "nothing stands between h and r"),
        ("$request$status", r"nothing stands between \$request and \$status"),
    ],
)
def test_a_format_that_cannot_be_read_is_refused_before_anything_is(folder, log_format, said):
    with pytest.raises(ValueError, match=said):
        read_visits(folder, log_format=log_format)
    with pytest.raises(ValueError, match="is for access logs, not for format 'cdx'"):
        read_visits(folder, "cdx", log_format="%r")


@pytest.mark.parametrize("matcher", [*KNOWN, matcher_of('%h %u "%r" "%{a}i" "%{b}i" %{c}i %{d}i %b')])
@pytest.mark.parametrize("piece", [" ", '"', '\\"', "[", "a ", "1.2 - ", '" "', "::"])
def test_a_line_is_matched_in_linear_time_whatever_it_is(matcher, piece):
    text = '1.2.3.4 - - [18/Nov/2026] "GET /' + piece * (200_000 // len(piece))
    begun = time.process_time()
    for text_ in (text, text + '"', piece * (200_000 // len(piece))):
        matcher.match(text_)
    # Quadratic time would be minutes.
    assert time.process_time() - begun < 5


NGINX_JSON = {
    "time_local": "18/Nov/2026:07:24:36 +0000",
    "remote_addr": "1.2.3.4",
    "request": "GET /x?y=1 HTTP/1.1",
    "status": "200",
    "body_bytes_sent": "612",
    "http_host": "a.test",
    "http_user_agent": "curl",
}


@pytest.mark.parametrize(
    "record",
    [
        NGINX_JSON,
        {
            "time": "2026-11-18T07:24:36Z",
            "request_method": "GET",
            "request_uri": "/x?y=1",
            "status": 200,
            "bytes": 612,
            "host": "a.test",
        },
        {
            "timestamp": "2026-11-18T07:24:36Z",
            "verb": "GET",
            "request": "/x?y=1",
            "response": 200,
            "bytes": 612,
            "vhost": "a.test",
        },
        # Caddy
        {
            "level": "info",
            "ts": 1794986676.0,
            "request": {
                "proto": "HTTP/2.0",
                "method": "GET",
                "host": "a.test",
                "uri": "/x?y=1",
                "headers": {},
            },
            "size": 612,
            "status": 200,
        },
        # Traefik
        {
            "RequestMethod": "GET",
            "RequestPath": "/x?y=1",
            "RequestHost": "a.test",
            "DownstreamStatus": 200,
            "DownstreamContentSize": 612,
            "OriginStatus": 500,
            "StartUTC": "2026-11-18T07:24:36Z",
        },
        # Google Cloud's load balancers
        {
            "httpRequest": {
                "requestMethod": "GET",
                "requestUrl": "http://a.test/x?y=1",
                "status": 200,
                "responseSize": "612",
            },
            "timestamp": "2026-11-18T07:24:36Z",
        },
        {
            "method": "GET",
            "path": "/x",
            "query": "y=1",
            "status": 200,
            "size": 612,
            "host": "a.test",
            "time": 1794986676000,
        },
    ],
)
def test_json_lines_of_known_servers(folder, record):
    text = json.dumps(record)
    visits, reading = read(folder, text, text)
    assert visits == [Visit("http://a.test/x?y=1", 200, (612, 612), fetched_at="2026-11-18T07:24:36Z")] * 2
    assert reading.unreadable_count == 0


def test_what_is_unreadable_in_json_is_named(folder):
    good = json.dumps(NGINX_JSON)
    visits, reading = read(
        folder, good, "{", good, '{"status": 200}', json.dumps(NGINX_JSON | {"http_host": ""}), "x", good
    )
    assert len(visits) == 3
    assert bad_lines(reading) == [2, 4, 5, 6]


PARTS = st.sampled_from(
    [
        '"',
        '\\"',
        "\\x",
        "\\",
        "[",
        "]",
        " ",
        "-",
        "GET",
        "/",
        "HTTP/1.1",
        "200",
        "99999999999999999999",
        "é",
        "\0",
    ]
) | st.text(max_size=5)


@given(st.lists(st.none() | st.lists(PARTS, min_size=1, max_size=12).map("".join), max_size=30))
def test_fuzzed_lines_are_counted_and_nothing_else_is_lost(folder, lines):
    good = line("GET /page HTTP/1.1")
    cleaned = [good if one is None else one.replace("\n", "").replace("\r", "") for one in lines]
    raw = [one.encode("utf-8", "surrogatepass") for one in [good, good, *cleaned]]
    visits, reading = read(folder, *raw, base_url=BASE, format="combined")
    blank = sum(not one.strip("\r\n \0\ufeff") for one in cleaned)
    assert reading.records + reading.passed_over + reading.unreadable_count == len(raw) - blank
    assert urls(visits).count(f"{BASE}/page") >= 2 + lines.count(None)


@given(st.data())
def test_a_log_cut_anywhere_loses_its_last_line_at_most(folder, data):
    whole = ("".join(line(f"GET /{n} HTTP/1.1") + "\n" for n in range(5))).encode()
    at = data.draw(st.integers(1, len(whole)))
    path = folder / "cut.log"
    path.write_bytes(whole[:at])
    reading = read_visits(path, "combined", base_url=BASE)
    kept = whole[:at].count(b"\n")
    try:
        found = urls(list(reading))
    except CrawlLogError:
        found = []
    assert found[:kept] == [f"{BASE}/{n}" for n in range(kept)]
    assert len(found) <= kept + 1
    assert reading.unreadable_count == 0


@pytest.mark.parametrize(
    ("name", "lines"),
    [("apache", 6003), ("combined-apache", 10_000), ("hgweb", 6004), ("roundup", 1826), ("wordpress", 2058)],
)
def test_the_logs_of_real_servers_are_read_to_the_last_line(shared_data, name, lines):
    (path,) = (shared_data / "access_logs").glob(f"{name}.*log.gz")
    reading = read_visits(path, base_url="http://a.test")
    visits = list(reading)
    assert (reading.records + reading.passed_over, reading.unreadable_count) == (lines, 0)
    host = f"{name}.test" if name in ("apache", "wordpress") else "a.test"
    assert sum(visit.url.startswith(f"http://{host}/") for visit in visits) > 0.99 * len(visits)


def test_the_documented_names_of_json_fields_are_the_known_ones():
    page = (Path(__file__).parents[2] / "docs" / "other-logs.md").read_text("utf-8")
    table = page[page.index("| request line |") : page.index("For other names")]
    documented = [name.lower().replace("_", "") for name in re.findall(r"`(\w+)`", table)]
    asked = ("request", "method", "target", "query", "status", "size", "host", "scheme", "port")
    known = [name for ours in asked for name in access_json.NAMES[ours]]
    assert documented == known
