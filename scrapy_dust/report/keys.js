"use strict";
// The key function of scrapy_dust/rules, so that the page can say what happens to a URL. What an operation does, its own
// script says, which stands beside its Python; tests/report/test_keys.py keeps both equal. A rule with an operation that
// this page does not know makes its site one that the page says nothing about.
const Keys = (() => {
  // --- a URL and its parts (url/parts.py)
  const PARTS = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s;
  const IN_SEGMENT = /;([^;=&]+)=([^;&]*)/g;
  const none = (text) => (text === undefined ? null : text);

  function parameter(text, mark) {
    const at = text.indexOf("=");
    return at < 0 ? [text, null, mark] : [text.slice(0, at), text.slice(at + 1), mark];
  }

  function parametersOf(query) {
    const found = [];
    let begin = 0, mark = "";
    for (const match of query.matchAll(/&|;(?=[^&;=]+=)/g)) {
      found.push(parameter(query.slice(begin, match.index), mark || match[0]));
      begin = match.index + 1;
      mark = match[0];
    }
    return [...found, parameter(query.slice(begin), mark || "&")];
  }

  function parts(url) {
    const [, scheme, host, path, query, fragment] = url.match(PARTS);
    return { scheme: none(scheme), host: none(host), path: path.split("/"),
      query: query === undefined ? null : parametersOf(query), fragment: none(fragment) };
  }

  function text(url) {
    const written = (url.query || []).map(([name, value, mark], at) => (at ? mark : "")
      + (value === null ? name : `${name}=${value}`));
    return (url.scheme === null ? "" : `${url.scheme}:`) + (url.host === null ? "" : `//${url.host}`)
      + url.path.join("/") + (url.query === null ? "" : `?${written.join("")}`)
      + (url.fragment === null ? "" : `#${url.fragment}`);
  }

  function withQuery(url, query) {
    const kept = query.map(([name, value, mark]) => [name, value,
      name && !name.includes(";") && value !== null ? mark : "&"]);
    if (kept.length) kept[0][2] = kept.length > 1 ? kept[1][2] : "&";
    return { ...url, query: kept.length ? kept : null };
  }

  function withPathParameters(url, change) {
    const path = url.path.map((segment) => segment.replace(IN_SEGMENT, (whole, name, value) => {
      const changed = change(name, value);
      return changed === null ? "" : `;${name}=${changed}`;
    }));
    return same(path, url.path) ? url : { ...url, path };
  }

  function valuesOf(url, name) {
    const inPath = url.path.flatMap((segment) => [...segment.matchAll(IN_SEGMENT)].map(([, key, value]) => [key, value]));
    return [...inPath, ...(url.query || [])].filter(([key]) => key === name).map(([, value]) => value);
  }

  // --- what the operations' scripts have in common: they give the same object back where they change nothing
  const ANY = "*";
  const isId = (value) => /^(?=.*[0-9])(?=.*[a-fA-F])[0-9a-fA-F]{7,}$/.test(value);
  const isWord = (c) => /^[0-9A-Za-z]$/.test(c);
  const same = (a, b) => a.length === b.length && a.every((one, at) => one === b[at]);
  const samePair = (a, b) => a[0] === b[0] && a[1] === b[1];
  const samePairs = (a, b) => a.length === b.length && a.every((one, at) => samePair(one, b[at]));
  const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

  function keeping(url, test) {
    if (!url.query) return url;
    const kept = url.query.filter(test);
    return kept.length === url.query.length ? url : withQuery(url, kept);
  }

  const LONGEST_VALUE = 1000;

  function withValues(url, name, change) {
    let changed = url;
    if (url.query) {
      const query = url.query.map(([key, value, mark]) => [key, key === name && value !== null ? change(value) : value, mark]);
      if (!samePairs(query, url.query)) changed = withQuery(url, query);
    }
    return withPathParameters(changed, (key, value) => (key === name ? change(value) : value));
  }

  const OPERATIONS = {
    /* OPERATIONS */
  };

  // --- guards (rules/guards.py)
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
    if (name === "host") return url.host;
    if (name === "path") return url.path.join("/");
    if (name === "separator") return (url.query || []).some(([, , mark]) => mark === ";") || url.path.some((one) => one.match(IN_SEGMENT)) ? ";" : "&";
    if (name === "depth") return String(url.path.length - 1);
    if (name === "ext") {
      const dot = last.lastIndexOf(".");
      return dot > 0 && last.length - dot - 1 <= 5 ? last.slice(dot + 1) : "";
    }
    if (name[0] === "/") return Number(name.slice(1)) < url.path.length ? url.path[Number(name.slice(1))] : null;
    if (name === "#:") return url.fragment === null ? null : classOf(url.fragment);
    const isClass = name[name.length - 1] === ":";
    const found = valuesOf(url, isClass ? name.slice(1, -1) : name.slice(1));
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

  // --- rules (rules/rule.py, rules/site_rules.py, rules/canonizer.py)
  function apply(rule, url) {
    const before = parts(url);
    let after = before;
    for (const one of rule.operations) after = OPERATIONS[one.do](one, after);
    return after === before || !rule.guard.every((condition) => accepts(condition, before)) ? url : text(after);
  }

  const isKnown = (rule) => rule.operations.every((one) => Object.hasOwn(OPERATIONS, one.do));

  function settle(rules, url, passes, steps) {
    const longest = 2 * url.length + 10000;
    for (let pass = 0; pass < passes; pass += 1) {
      const before = url;
      for (const rule of rules) {
        const after = apply(rule, url);
        if (after !== url) steps.push({ rule, before: url, after });
        url = after;
        if (url.length > longest) return [url, false];
      }
      if (url === before) return [url, true];
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
    const rules = rulesOf(site);
    if (!rules.every(isKnown)) {
      return { site, why: "The site has a rule that this page cannot apply: `scrapy dustrules explain` can." };
    }
    const steps = [];
    const [form, isSettled] = settle(rules, url, passes, steps);
    if (form === url || !isSettled || siteOf(form, sites) !== site) return { site, key: url, steps: [] };
    return { site, key: form, steps };
  }

  return { explain, siteOf };
})();
