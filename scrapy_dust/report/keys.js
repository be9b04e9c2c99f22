"use strict";
// The key function of scrapy_dust/dust, so that the page can say what happens to a URL. Kept equal to it by
// tests/e2e/test_report.py. A rule that this page does not know makes its site one that it says nothing about.
const Keys = (() => {
  const isWord = (c) => /^[0-9A-Za-z]$/.test(c);
  const isBoundary = (left, right) => !(isWord(left) && isWord(right));
  const standsBetween = (left, text, right) => text === ""
    ? isBoundary(left, right)
    : isBoundary(left, text[0]) && isBoundary(text[text.length - 1], right);

  // --- the papers' rules (dust/rules.py)
  function substring(rule, url) {
    const { alpha, beta, start, end } = rule;
    const fits = (head, rest) => {
      const left = head.slice(-1), right = rest.slice(0, 1);
      return standsBetween(left, alpha, right) && standsBetween(left, beta, right);
    };
    if (start) {
      if (!url.startsWith(alpha) || (end && url.length !== alpha.length)) return url;
      const rest = url.slice(alpha.length);
      return fits("", rest) ? beta + rest : url;
    }
    if (end) {
      if (!url.endsWith(alpha)) return url;
      const head = url.slice(0, url.length - alpha.length);
      return fits(head, "") ? head + beta : url;
    }
    if (alpha === "") return url;
    for (let at = url.indexOf(alpha); at >= 0; at = url.indexOf(alpha, at + 1)) {
      const head = url.slice(0, at), rest = url.slice(at + alpha.length);
      if (fits(head, rest)) return head + beta + rest;
    }
    return url;
  }

  const PATH_PARAMETER = /(?<=;)([^;=/?#&]+)=([^;/?#&]*)/g;
  const QUERY_PARAMETER = /(?<=[?&;])([^&;=#]+)=([^&;#]*(?:;(?![^&;=#]+=)[^&;#]*)*)/g;

  function parameters(url) {
    const hash = url.indexOf("#"), stop = hash < 0 ? url.length : hash;
    const found = [];
    const mark = url.slice(0, stop).indexOf("?");
    const collect = (text, offset, pattern) => {
      for (const match of text.matchAll(pattern)) {
        const begin = offset + match.index;
        found.push({ name: match[1], begin, value: begin + match[1].length + 1, end: begin + match[0].length });
      }
    };
    if (url.includes(";")) collect(url.slice(0, mark < 0 ? stop : mark), 0, PATH_PARAMETER);
    if (mark >= 0) collect(url.slice(mark, stop), mark, QUERY_PARAMETER);
    return found;
  }

  function parameter(rule, url) {
    for (const one of parameters(url).filter((each) => each.name === rule.name).reverse()) {
      if (rule.value !== null) {
        url = url.slice(0, one.value) + rule.value + url.slice(one.end);
        continue;
      }
      const rest = url.slice(one.end);
      url = url[one.begin - 1] === "?" && /^[&;]/.test(rest)
        ? url.slice(0, one.begin) + rest.slice(1)
        : url.slice(0, one.begin - 1) + rest;
    }
    return url;
  }

  // --- edits (dust/edits): operations give the same object back where they change nothing
  const PARTS = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s;
  const none = (text) => (text === undefined ? null : text);

  function anatomy(url) {
    const [, scheme, host, path, query, fragment] = url.match(PARTS);
    const between = query !== undefined && query.includes(";") && !query.includes("&") ? ";" : "&";
    const pair = (text) => {
      const at = text.indexOf("=");
      return at < 0 ? [text, null] : [text.slice(0, at), text.slice(at + 1)];
    };
    return { scheme: none(scheme), host: none(host), path: path.split("/"),
      query: query === undefined ? null : query.split(between).map(pair), fragment: none(fragment), between };
  }

  function text(url) {
    const pair = ([name, value]) => (value === null ? name : `${name}=${value}`);
    return (url.scheme === null ? "" : `${url.scheme}:`) + (url.host === null ? "" : `//${url.host}`)
      + url.path.join("/") + (url.query === null ? "" : `?${url.query.map(pair).join(url.between)}`)
      + (url.fragment === null ? "" : `#${url.fragment}`);
  }

  const ANY = "*";
  const samePair = (a, b) => a[0] === b[0] && a[1] === b[1];
  const withQuery = (url, query) => ({ ...url, query: query.length ? query : null });
  const same = (a, b) => a.length === b.length && a.every((one, at) => one === b[at]);

  function decoded(text) {
    return text.replace(/%([0-9A-Fa-f]{2})/g, (code, digits) => {
      const c = String.fromCharCode(parseInt(digits, 16));
      if (c === " ") return "%20";
      return c >= "!" && c <= "~" && !"%#?&=+;/ ".includes(c) ? c : code.toUpperCase();
    });
  }

  function withValues(url, name, change) {
    if (!url.query || !url.query.length) return url;
    const query = url.query.map(([key, value]) => [key, key === name && value !== null ? change(value) : value]);
    return query.every((pair, at) => samePair(pair, url.query[at])) ? url : { ...url, query };
  }

  function keeping(url, test) {
    if (!url.query) return url;
    const kept = url.query.filter(test);
    return kept.length === url.query.length ? url : withQuery(url, kept);
  }

  function order(a, b) {
    return a < b ? -1 : a > b ? 1 : 0;
  }

  function captured(form, classes, rest) {
    const named = { number: "[0-9]+", letters: "[A-Za-z]+", word: "[0-9A-Za-z]+",
      numbers: "[0-9]+(?:[/.:_-][0-9]+)+", name: "[^/?#&=;]+", path: "[^?#&=;]+" };
    const quoted = (piece) => piece.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
    const seen = new Set();
    const pieces = form.map((piece) => {
      if (typeof piece === "string") return quoted(piece);
      if (seen.has(piece)) return `\\k<c${piece}>`;
      seen.add(piece);
      return `(?<c${piece}>${named[classes[piece]]})`;
    });
    const match = rest.match(new RegExp(`^(?:${pieces.join("")})$`));
    return match && (match.groups || {});
  }

  function rewrite(one, url) {
    const rest = text({ ...url, scheme: null, host: null });
    const found = url.scheme && url.host ? captured(one.form, one.classes, rest) : null;
    if (!found) return url;
    const made = one.other.map((piece) => (typeof piece === "string" ? piece : found[`c${piece}`])).join("");
    return anatomy(`${url.scheme}://${url.host}${made}`);
  }

  const OPERATIONS = {
    "decode": (one, url) => {
      const path = url.path.map((segment) => (segment.includes("%") ? decoded(segment) : segment));
      const has = url.query && url.query.some(([name, value]) => `${name}${value || ""}`.includes("%"));
      const blank = (part) => (part === null ? null : decoded(part).replaceAll("%20", "+"));
      const query = has ? url.query.map(([name, value]) => [blank(name), blank(value)]) : url.query;
      const changed = !same(path, url.path) || (has && !query.every((pair, at) => samePair(pair, url.query[at])));
      return changed ? { ...url, path, query } : url;
    },
    "fold case": (one, url) => {
      const path = url.path.map((segment) => segment.toLowerCase());
      return same(path, url.path) ? url : { ...url, path };
    },
    "one scheme": (one, url) => (url.scheme === "https" ? { ...url, scheme: "http" } : url),
    "plain host": (one, url) => {
      if (url.host === null) return url;
      let host = url.host.includes("@") ? url.host : url.host.toLowerCase();
      const port = { http: ":80", https: ":443" }[url.scheme];
      if (port && host.endsWith(port)) host = host.slice(0, -port.length);
      return host === url.host ? url : { ...url, host };
    },
    "drop www": (one, url) => (url.host !== null && url.host.startsWith("www.") && url.host.split(".").length > 2
      ? { ...url, host: url.host.slice(4) } : url),
    "map host": (one, url) => (url.host === one.alias ? { ...url, host: one.host } : url),
    "drop fragment": (one, url) => (url.fragment === null ? url : { ...url, fragment: null }),
    "drop slash": (one, url) => {
      let end = url.path.length;
      while (end > 2 && !url.path[end - 1]) end -= 1;
      return end === url.path.length ? url : { ...url, path: url.path.slice(0, end) };
    },
    "drop index": (one, url) => (url.path.length < 2
      || !/^(?:index(?:\.[a-z]{2,5})?|default\.[a-z]{2,5})$/i.test(url.path[url.path.length - 1])
      ? url : { ...url, path: [...url.path.slice(0, -1), ""] }),
    "drop last": (one, url) => (url.path.length < 2 || url.path[url.path.length - 1] !== one.name
      ? url : { ...url, path: [...url.path.slice(0, -1), ""] }),
    "map suffix": (one, url) => {
      let at = url.path.length - 1;
      if (at > 0 && !url.path[at]) at -= 1;
      const last = url.path[at];
      if (!one.suffix || !last.endsWith(one.suffix) || last.length === one.suffix.length) return url;
      const stem = last.slice(0, last.length - one.suffix.length);
      return { ...url, path: [...url.path.slice(0, at), stem + one.other, ...url.path.slice(at + 1)] };
    },
    "map segments": (one, url) => {
      const width = one.segments.length;
      for (let at = 1; at < url.path.length - width + 1; at += 1) {
        if (!same(url.path.slice(at, at + width), one.segments)) continue;
        const rest = url.path.slice(at + width);
        const tail = rest.length ? rest : one.other.length ? [] : [""];
        return { ...url, path: [...url.path.slice(0, at), ...one.other, ...tail] };
      }
      return url;
    },
    "any segment": (one, url) => {
      const at = one.place >= 0 ? one.place : url.path.length + one.place;
      if (!(at > 0 && at < url.path.length) || url.path[at] === ANY || !url.path[at]) return url;
      return { ...url, path: [...url.path.slice(0, at), ANY, ...url.path.slice(at + 1)] };
    },
    "drop from": (one, url) => {
      const path = url.path, at = one.place;
      if (path.length <= at || (path.length === at + 1 && !path[path.length - 1])) return url;
      return { ...url, path: [...path.slice(0, at), ""] };
    },
    "collapse repeats": (one, url) => {
      const path = [...url.path];
      const repeats = (at, width) => same(path.slice(at, at + width), path.slice(at + width, at + 2 * width));
      let at = 1;
      while (at < path.length) {
        let width = 1;
        while (width <= Math.floor((path.length - at) / 2) && !repeats(at, width)) width += 1;
        if (width <= Math.floor((path.length - at) / 2)) path.splice(at, width);
        else at += 1;
      }
      return path.length === url.path.length ? url : { ...url, path };
    },
    "drop parameter": (one, url) => keeping(url, ([name, value]) => name !== one.name
      || (one.value !== null && value !== one.value)),
    "drop query": (one, url) => (url.query === null ? url : { ...url, query: null }),
    "keep parameters": (one, url) => keeping(url, ([name]) => one.names.includes(name)),
    "drop empty": (one, url) => keeping(url, ([, value]) => Boolean(value)),
    "drop repeated": (one, url) => {
      if (!url.query || url.query.length < 2) return url;
      const kept = url.query.filter((pair, at) => url.query.findIndex((each) => samePair(pair, each)) === at);
      return kept.length === url.query.length ? url : { ...url, query: kept };
    },
    "any value": (one, url) => withValues(url, one.name, () => ANY),
    "map value": (one, url) => withValues(url, one.name, (value) => (value === one.value ? one.other : value)),
    "cut value": (one, url) => withValues(url, one.name, (value) => value.split(one.delimiter)[0]),
    "sort parameters": (one, url) => {
      if (!url.query || url.query.length < 2) return url;
      const by = (a, b) => order(a[0], b[0]) || (one.values ? order(a[1] || "", b[1] || "") : 0);
      const query = [...url.query].sort(by);
      return query.every((pair, at) => samePair(pair, url.query[at])) ? url : { ...url, query };
    },
    "substitute": (one, url) => {
      const before = text(url), after = substring(one, before);
      const form = anatomy(after);
      return after !== before && form.scheme && form.host ? form : url;
    },
    "rewrite": rewrite,
  };

  const CLASSES = [
    ["empty", /^$/], ["digits", /^[0-9]+$/],
    ["uuid", /^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/],
    ["date", /^(?:19|20)[0-9]{2}-?[01][0-9]-?[0-3][0-9](?:T.*)?$/], ["hex", /^(?=.*[0-9])[0-9a-fA-F]{6,}$/],
    ["word", /^[A-Za-z]+$/], ["name", /^[A-Za-z0-9_]+$/], ["slug", /^[\p{L}\p{N}_.~-]+$/u],
    ["path", /^[!/].*$/s],
  ];
  const classOf = (value) => {
    if (value === null) return "none";
    const found = CLASSES.find(([, pattern]) => pattern.test(value));
    return found ? found[0] : "text";
  };

  function attribute(url, name) {
    const last = url.path[url.path.length - 1];
    const values = (key) => (url.query || []).filter(([one]) => one === key).map(([, value]) => value);
    if (name === "host") return url.host;
    if (name === "path") return url.path.join("/");
    if (name === "depth") return String(url.path.length - 1);
    if (name === "ext") {
      const dot = last.lastIndexOf(".");
      return dot > 0 && last.length - dot - 1 <= 5 ? last.slice(dot + 1) : "";
    }
    if (name[0] === "/") return Number(name.slice(1)) < url.path.length ? url.path[Number(name.slice(1))] : null;
    if (name === "#:") return url.fragment === null ? null : classOf(url.fragment);
    const isClass = name[name.length - 1] === ":";
    const found = values(isClass ? name.slice(1, -1) : name.slice(1));
    if (!found.length) return null;
    return isClass ? classOf(found[0]) : found[0] || "";
  }

  function accepts(condition, url) {
    if (condition.of === "shape") {
      const shape = (condition.value || "").split("/");
      const fits = url.path.length === shape.length
        && shape.every((wanted, at) => wanted === "*" || wanted === url.path[at]);
      return fits === condition.holds;
    }
    const found = attribute(url, condition.of);
    return (found !== null && (condition.value === null || found === condition.value)) === condition.holds;
  }

  function edit(rule, url) {
    let edited = url;
    for (const one of rule.operations) edited = OPERATIONS[one.do](one, edited);
    return edited === url || !rule.guard.every((condition) => accepts(condition, url)) ? url : edited;
  }

  const applyEdit = (rule, url) => {
    const form = anatomy(url);
    if (!form.scheme || !form.host) return url;
    const edited = edit(rule, form);
    return edited === form ? url : text(edited);
  };

  // --- all rules of a site (dust/canonization.py, site_rules.py, mixed_rules.py)
  const apply = (rule, url) => (rule.kind === "substring" ? substring(rule, url)
    : rule.kind === "parameter" ? parameter(rule, url) : applyEdit(rule, url));
  const isKnown = (rule) => rule.kind === "substring" || rule.kind === "parameter"
    || (rule.kind === "edit" && rule.operations.every((one) => one.do in OPERATIONS));

  function settle(rules, url, passes, steps) {
    for (let pass = 0; pass < passes; pass += 1) {
      const before = url;
      for (const rule of rules) {
        const after = apply(rule, url);
        if (after !== url) steps.push({ rule, before: url, after });
        url = after;
      }
      if (url === before) return [url, true];
    }
    return [url, false];
  }

  function together(plain, edits, url, passes, steps) {
    let isSettled = true;
    for (let pass = 0; pass < passes; pass += 1) {
      [url, isSettled] = settle(plain, url, passes, steps);
      if (!isSettled || !edits.length) return [url, isSettled];
      const before = url;
      [url, isSettled] = settle(edits, url, passes, steps);
      if (url === before || !isSettled) return [url, isSettled];
    }
    return [url, false];
  }

  // sites: name → {below, ports}: whether hosts below it, and ports, are the site's too
  function siteOf(url, sites) {
    const match = /^https?:\/\/(?:[^/?#]*@)?([^/?#@\s[\]\\]+)(?:[/?#]|$)/i.exec(url);
    if (!match) return null;
    const netloc = match[1].toLowerCase(), host = netloc.split(":")[0].replace(/^\.+|\.+$/g, "");
    if (Object.hasOwn(sites, netloc)) return netloc;
    for (let name = host; name; name = name.slice(name.indexOf(".") + 1)) {
      const known = Object.hasOwn(sites, name) ? sites[name] : null;
      if (known && (known.ports || !netloc.includes(":")) && (known.below || name === host)) return name;
      if (!name.includes(".")) break;
    }
    return null;
  }

  // What becomes of url: {site, key, steps}, or {why} where this page cannot say.
  function explain(url, sites, rulesOf, passes) {
    const site = siteOf(url, sites);
    if (site === null) return { why: "It is no URL of a site of this report." };
    const { plain, edits } = rulesOf(site);
    if (![...plain, ...edits].every(isKnown)) {
      return { site, why: "The site has a rule that this page cannot apply: `scrapy dustrules explain` can." };
    }
    const steps = [];
    const [form, isSettled] = together(plain, edits, url, passes, steps);
    if (form === url) return { site, key: url, steps: [] };
    if (!isSettled || siteOf(form, sites) !== site) return { site, key: url, steps: [] };
    return { site, key: form, steps };
  }

  return { explain, siteOf };
})();
