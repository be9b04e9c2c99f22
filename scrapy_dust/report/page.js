"use strict";
// Everything that a site wrote comes into the page as text (textContent), never as markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const rules = data.rules;
  const byId = new Map(rules.map((rule, place) => [rule.id + rule.site, place]));
  const $ = (id) => document.getElementById(id);

  function make(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "class") node.className = value;
      else node.setAttribute(name, value);
    }
    node.append(...children);
    return node;
  }

  const number = new Intl.NumberFormat("en");
  const count = (value) => (value === null || value === undefined ? "–" : number.format(value));
  const many = (value, noun, nouns = `${noun}s`) => `${count(value)} ${value === 1 ? noun : nouns}`;
  const percent = (value) => (value === null || value === undefined ? "–" : `${(100 * value).toFixed(1)} %`);
  const size = (bytes) => (bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${Math.round(bytes / 1e3)} kB`);


  // --- the table: fifty rows, and fifty more whenever somebody asks
  const ROWS = 50;
  const COLUMNS = [
    { name: "Status", of: (rule) => rule.status, first: 1 },
    { name: "Rule", of: (rule) => rule.text, first: 1 },
    { name: "Requests saved", of: (rule) => rule.saves, first: -1 },
    { name: "Pairs alike", of: (rule) => rule.same, first: -1 },
    { name: "May err, at most", of: (rule) => (rule.unseen === null ? 2 : rule.unseen), first: -1 },
  ];
  const DOUBT = (rule) => rule.doubt;
  const haystacks = rules.map((rule) => `${rule.text}\n${rule.site}\n${rule.id}`.toLowerCase());
  const state = { by: DOUBT, column: null, way: -1, order: [], shown: [], most: ROWS, chosen: null };
  const body = $("body");

  function compare(a, b) {
    const x = state.by(rules[a]), y = state.by(rules[b]);
    return (x < y ? -1 : x > y ? 1 : 0) * state.way || rules[b].saves - rules[a].saves || a - b;
  }

  function sort() {
    state.order = rules.map((rule, place) => place).sort(compare);
    filter();
  }

  function filter() {
    const wanted = $("filter").value.trim().toLowerCase(), status = $("status").value, kind = $("kind").value;
    state.shown = state.order.filter((place) => (!wanted || haystacks[place].includes(wanted))
      && (!status || rules[place].status === status) && (!kind || rules[place].kind === kind));
    $("count").textContent = `${count(state.shown.length)} of ${many(rules.length, "rule")}`;
    state.most = ROWS;
    draw();
  }

  function rowOf(place) {
    const rule = rules[place];
    const cell = (column, ...content) => make("td", { "data-label": COLUMNS[column].name, class: column > 1 ? "number" : "" }, make("span", {}, ...content));
    const button = make("button", { class: "rule", type: "button" }, rule.text);
    button.addEventListener("click", () => choose(place));
    return make("tr", { class: place === state.chosen ? "chosen" : "" },
      cell(0, make("span", { class: `badge ${rule.status}` }, rule.status)),
      cell(1, button, make("span", { class: "site" }, rule.site)),
      cell(2, count(rule.saves)), cell(3, count(rule.same)), cell(4, percent(rule.unseen)));
  }

  function draw(most = state.most) {
    body.replaceChildren(...state.shown.slice(0, most).map(rowOf));
    $("more").hidden = state.shown.length <= most;
  }

  $("more").addEventListener("click", () => {
    const before = state.most;
    state.most += ROWS;
    draw();
    body.rows[before].querySelector("button").focus();
  });
  body.addEventListener("keydown", (event) => {
    const next = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    const row = next && event.target.closest("tr")[next];
    if (!row) return;
    event.preventDefault();
    row.querySelector("button").focus();
  });
  window.addEventListener("beforeprint", () => draw(500));
  window.addEventListener("afterprint", () => draw());

  for (const column of COLUMNS) {
    const button = make("button", { type: "button" }, column.name);
    const head = make("th", { scope: "col", class: COLUMNS.indexOf(column) > 1 ? "number" : "" }, button);
    button.addEventListener("click", () => {
      state.way = state.column === column ? -state.way : column.first;
      state.by = column.of;
      state.column = column;
      for (const other of $("heads").children) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", state.way > 0 ? "ascending" : "descending");
      sort();
    });
    $("heads").append(head);
  }
  for (const [id, of] of [["status", (rule) => rule.status], ["kind", (rule) => rule.kind]]) {
    const values = [...new Set(rules.map(of))].sort();
    $(id).append(...values.map((value) => make("option", { value }, value)));
    $(id).addEventListener("change", filter);
  }
  $("filter").addEventListener("input", filter);

  // --- one rule
  const TOKEN = /[A-Za-z0-9]+|[^A-Za-z0-9]/gsu;

  // What the two have in common, token by token; long ones only by their beginnings and ends.
  function difference(before, after) {
    const a = before.match(TOKEN) || [], b = after.match(TOKEN) || [];
    let head = 0, tail = 0;
    while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
    while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
    const x = a.slice(head, a.length - tail), y = b.slice(head, b.length - tail);
    const kept = x.length * y.length <= 160000 ? commonTokens(x, y) : [new Set(), new Set()];
    const marks = (tokens, middle, isKept) => tokens.map((token, at) => [token, at < head || at >= tokens.length - tail || isKept.has(at - head)]);
    return [marks(a, x, kept[0]), marks(b, y, kept[1])];
  }

  function commonTokens(x, y) {
    const longest = Array.from({ length: x.length + 1 }, () => new Uint16Array(y.length + 1));
    for (let i = x.length - 1; i >= 0; i -= 1) {
      for (let j = y.length - 1; j >= 0; j -= 1) {
        longest[i][j] = x[i] === y[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
      }
    }
    const inX = new Set(), inY = new Set();
    for (let i = 0, j = 0; i < x.length && j < y.length;) {
      if (x[i] === y[j]) { inX.add(i); inY.add(j); i += 1; j += 1; }
      else if (longest[i + 1][j] >= longest[i][j + 1]) i += 1;
      else j += 1;
    }
    return [inX, inY];
  }

  function marked(tokens, tag, said) {
    const line = make("p");
    for (let at = 0; at < tokens.length;) {
      const same = tokens[at][1];
      let run = "";
      while (at < tokens.length && tokens[at][1] === same) { run += tokens[at][0]; at += 1; }
      line.append(same ? run : make(tag, {}, make("span", { class: "hidden" }, `${said}: `), run));
    }
    return line;
  }

  function pair(shown) {
    const [a, b] = difference(...shown.urls);
    const titles = shown.titles;
    const said = titles[0] === titles[1] ? titles[0] : titles.filter(Boolean).join(" / ");
    return make("div", { class: "pair" }, marked(a, "del", "only here"), marked(b, "ins", "only here"),
      said ? make("p", { class: "page-title" }, said) : "",
      shown.said.length ? make("p", { class: "page-title" }, shown.said.join(" ")) : "",
      ...texts(...shown.texts));
  }

  // What the two pages say, side by side.
  function texts(first, second) {
    const side = (name, ...content) => make("div", {}, make("p", { class: "eyebrow" }, name), ...content);
    if (!first && !second) return [];
    if (first === second) return [make("div", { class: "texts" }, side("Text of both", make("p", {}, first)))];
    const none = make("p", { class: "muted" }, "No text is at hand.");
    const [a, b] = first && second ? difference(first, second) : [[[first, true]], [[second, true]]];
    return [make("div", { class: "texts" }, side("Text of the first", first ? marked(a, "del", "only here") : none),
      side("Text of the second", second ? marked(b, "ins", "only here") : none))];
  }

  function choose(place, focus = false) {
    show(place);
    if (focus || isNarrow()) {
      $("detail").focus({ preventScroll: true });
      $("detail").scrollIntoView({ block: "start" });
    }
  }

  // Then the evidence stands below the table, and not beside it.
  const isNarrow = () => window.matchMedia("(max-width: 62rem)").matches;

  function show(place) {
    state.chosen = place;
    const rule = rules[place];
    const facts = [
      ["Saves", `${many(rule.saves, "request")} of this log, ${size(rule.bytes)}`],
      ["Seen alike", `${many(rule.same, "pair")} of URLs on ${many(rule.contents, "different page")}; ${count(rule.from_log)} of the pairs are known from the log alone`],
      ["Seen to differ", `${many(rule.different, "pair")}; ${count(rule.unanswered)} did not answer, ${count(rule.open)} could not be compared`],
      ["In this log", rule.wrong === null ? "not known yet" : `of ${many(rule.merges, "URL")} that it merges, at most ${count(rule.wrong)} show another page (95 %)`],
      ["On other URLs", rule.unseen === null ? "not known yet" : `at most ${percent(rule.unseen)} of its merges are wrong (95 %)`],
      ["Cost", `${many(rule.fetches, "fetch", "fetches")}`],
      ["Last tested", rule.validated || "never"],
      ["Site", rule.site], ["Kind", rule.kind], ["Id", rule.id],
    ];
    if (rule.waits) facts.unshift(["Why it waits", rule.waits]);
    if (rule.reason) facts.push(["Why", rule.reason]);
    if (rule.comment) facts.push(["Comment", rule.comment]);
    $("detail").replaceChildren(
      make("h3", { id: "detail-h", class: "mono" }, rule.text),
      make("span", { class: `badge ${rule.status}` }, rule.status),
      make("dl", {}, ...facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)])),
      rule.examples.length ? make("h3", {}, "Examples") : "",
      ...rule.examples.map(pair),
    );
    for (const row of body.rows) row.classList.remove("chosen");
    body.rows[state.shown.indexOf(place)]?.classList.add("chosen");
  }

  // --- one URL
  const ofSite = new Map();
  function rulesOf(site) {
    if (!ofSite.has(site)) {
      const places = data.force[site] || [];
      const read = ([place, rule]) => ({ ...rule, place });
      ofSite.set(site, places.map(read));
    }
    return ofSite.get(site);
  }

  $("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    const url = $("url").value.trim();
    const told = Keys.explain(url, data.sites, rulesOf, data.passes);
    const answer = $("answer");
    if (told.why) answer.replaceChildren(make("p", {}, told.why));
    else if (!told.steps.length) answer.replaceChildren(make("p", {}, "No rule changes this URL, so it is fetched."));
    else {
      const steps = told.steps.map((step) => {
        const button = make("button", { class: "rule", type: "button" }, rules[step.rule.place].text);
        button.addEventListener("click", () => choose(step.rule.place, true));
        return make("li", {}, button, pair({ urls: [step.before, step.after], titles: ["", ""], said: [], texts: ["", ""] }));
      });
      answer.replaceChildren(make("p", {}, "It is a duplicate of every URL with this key: ", make("code", {}, told.key)), make("ol", {}, ...steps));
    }
  });

  // --- names and sites lead to their rules, pairs are put where they belong
  for (const button of document.querySelectorAll("button[data-filter]")) {
    button.addEventListener("click", () => {
      $("filter").value = button.dataset.filter;
      filter();
      if (state.shown.length) show(state.shown[0]);
      $("rules").focus();
      $("rules").scrollIntoView({ block: "start" });
    });
  }
  for (const button of document.querySelectorAll("button[data-url]")) {
    button.addEventListener("click", () => {
      $("url").value = button.dataset.url;
      $("ask").requestSubmit();
    });
  }
  for (const place of document.querySelectorAll("[data-example]")) {
    const [example] = rules[Number(place.dataset.example)].examples;
    if (example) place.replaceChildren(pair(example));
  }
  for (const place of document.querySelectorAll("[data-pair]")) {
    place.replaceChildren(pair(data.left[Number(place.dataset.pair)]));
  }

  sort();
  if (state.shown.length) show(state.shown[0]);
  window.dustReport = { data, filter, rulesOf, byId };
})();
