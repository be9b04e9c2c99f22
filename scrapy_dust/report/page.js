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
  const many = (value, noun) => `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
  const percent = (value) => (value === null || value === undefined ? "–" : `${(100 * value).toFixed(1)} %`);
  const size = (bytes) => (bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${Math.round(bytes / 1e3)} kB`);

  const duration = (seconds) => (seconds < 120 ? `${seconds} s` : seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`);

  // --- the list: only the rows that are seen are made
  const COLUMNS = [
    { name: "Status", of: (rule) => rule.status, first: 1 },
    { name: "Rule", of: (rule) => rule.text, first: 1 },
    { name: "Saves", of: (rule) => rule.saves, first: -1 },
    { name: "Same", of: (rule) => rule.same, first: -1 },
    { name: "Lost ≤", of: (rule) => (rule.unseen === null ? 2 : rule.unseen), first: -1 },
  ];
  const DOUBT = (rule) => rule.doubt;
  const haystacks = rules.map((rule) => `${rule.text}\n${rule.site}\n${rule.id}`.toLowerCase());
  const state = { by: DOUBT, column: null, way: -1, order: [], shown: [], chosen: null };
  const body = $("body"), spacer = make("div", { class: "spacer", role: "none" });
  body.append(spacer);
  let rowHeight = 52;

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
    $("table").setAttribute("aria-rowcount", state.shown.length + 1);
    body.scrollTop = 0;
    draw();
  }

  function rowOf(place, index) {
    const rule = rules[place];
    const cell = (value) => make("div", { role: "cell", class: "number" }, value);
    const button = make("button", { class: "rule", type: "button", title: rule.text }, rule.text);
    button.addEventListener("click", () => choose(place));
    const row = make("div", { role: "row", class: `row${place === state.chosen ? " chosen" : ""}`, "aria-rowindex": index + 2 },
      make("div", { role: "cell" }, make("span", { class: `badge ${rule.status}` }, rule.status)),
      make("div", { role: "cell" }, button, make("span", { class: "site" }, rule.site)),
      cell(count(rule.saves)), cell(count(rule.same)), cell(percent(rule.unseen)));
    row.style.top = `${index * rowHeight}px`;
    return row;
  }

  function draw(all = false) {
    rowHeight = body.querySelector(".row")?.offsetHeight || rowHeight;
    const first = all ? 0 : Math.max(0, Math.floor(body.scrollTop / rowHeight) - 5);
    const last = Math.min(state.shown.length, all ? 500 : first + Math.ceil(body.clientHeight / rowHeight) + 10);
    const focused = document.activeElement?.closest?.("#body .row")?.getAttribute("aria-rowindex");
    spacer.style.height = `${state.shown.length * rowHeight}px`;
    const rows = [];
    for (let index = first; index < last; index += 1) rows.push(rowOf(state.shown[index], index));
    body.replaceChildren(spacer, ...rows);
    if (focused) rows.find((row) => row.getAttribute("aria-rowindex") === focused)?.querySelector("button").focus({ preventScroll: true });
  }

  body.addEventListener("scroll", () => requestAnimationFrame(() => draw()), { passive: true });
  body.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const row = event.target.closest(".row");
    if (!step || !row) return;
    event.preventDefault();
    const index = Math.min(Math.max(Number(row.getAttribute("aria-rowindex")) - 2 + step, 0), state.shown.length - 1);
    const top = index * rowHeight;
    if (top < body.scrollTop) body.scrollTop = top;
    else if (top + rowHeight > body.scrollTop + body.clientHeight) body.scrollTop = top + rowHeight - body.clientHeight;
    draw();
    body.querySelector(`[aria-rowindex="${index + 2}"] button`)?.focus({ preventScroll: true });
  });
  window.addEventListener("beforeprint", () => draw(true));
  window.addEventListener("afterprint", () => draw());

  for (const column of COLUMNS) {
    const button = make("button", { type: "button" }, column.name);
    const head = make("div", { role: "columnheader", class: COLUMNS.indexOf(column) > 1 ? "number" : "" }, button);
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
    const none = make("p", { class: "muted" }, "Nobody kept it.");
    const [a, b] = first && second ? difference(first, second) : [[[first, true]], [[second, true]]];
    return [make("div", { class: "texts" }, side("Text of the first", first ? marked(a, "del", "only here") : none),
      side("Text of the second", second ? marked(b, "ins", "only here") : none))];
  }

  function choose(place, focus = false) {
    state.chosen = place;
    const rule = rules[place];
    const facts = [
      ["Site", rule.site], ["Id", rule.id], ["Kind", rule.kind],
      ["Saves", `${many(rule.saves, "URL")} of this log, ${size(rule.bytes)}, ${duration(rule.saves)} at one fetch a second`],
      ["Same page", `${many(rule.same, "pair")}, ${count(rule.from_log)} of them by the log alone; ${many(rule.contents, "text")}`],
      ["Other page", `${many(rule.different, "pair")}; ${count(rule.unanswered)} did not answer; ${count(rule.open)} open`],
      ["Risk, in this log", rule.wrong === null ? `${many(rule.merges, "URL")} merged, no bound` : `${many(rule.merges, "URL")} merged, at most ${count(rule.wrong)} of them wrongly (95 %)`],
      ["Risk, of URLs not seen", rule.unseen === null ? "no bound" : `at most ${percent(rule.unseen)} of such URLs show another page (95 %)`],
      ["Support", many(rule.support, "instance")], ["Fetches", count(rule.fetches)], ["Stratum", rule.stratum || "–"],
      ["Validated", rule.validated || "never"],
    ];
    if (rule.reason) facts.push(["Why", rule.reason]);
    if (rule.comment) facts.push(["Comment", rule.comment]);
    $("detail").replaceChildren(
      make("h3", { id: "detail-h", class: "mono" }, rule.text),
      make("span", { class: `badge ${rule.status}` }, rule.status),
      make("dl", {}, ...facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)])),
      rule.examples.length ? make("h3", {}, "Examples") : "",
      ...rule.examples.map(pair),
    );
    draw();
    if (focus) $("detail").focus();
  }

  // --- one URL
  const ofSite = new Map();
  function rulesOf(site) {
    if (!ofSite.has(site)) {
      const places = data.force[site] || { plain: [], edits: [] };
      const read = ([place, rule]) => ({ ...rule, place });
      ofSite.set(site, { plain: places.plain.map(read), edits: places.edits.map(read) });
    }
    return ofSite.get(site);
  }

  $("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    const url = $("url").value.trim();
    const told = Keys.explain(url, data.sites, rulesOf, data.passes);
    const answer = $("answer");
    if (told.why) answer.replaceChildren(make("p", {}, told.why));
    else if (!told.steps.length) answer.replaceChildren(make("p", {}, "No rule changes it: it is its own key, and is fetched."));
    else {
      const steps = told.steps.map((step) => {
        const button = make("button", { class: "rule", type: "button" }, rules[step.rule.place].text);
        button.addEventListener("click", () => choose(step.rule.place, true));
        return make("li", {}, button, pair({ urls: [step.before, step.after], titles: ["", ""], said: [], texts: ["", ""] }));
      });
      answer.replaceChildren(make("p", {}, "Its key, which it shares with all URLs of its page: ", make("code", {}, told.key)), make("ol", {}, ...steps));
    }
  });

  // --- plots
  function svg(tag, attributes, ...children) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  function scatter() {
    const drawn = rules.map((rule, place) => [rule, place]).filter(([rule]) => rule.status === "valid" && rule.unseen !== null)
      .sort(([a], [b]) => b.saves - a.saves).slice(0, 400);
    const most = Math.max(10, ...drawn.map(([rule]) => rule.saves));
    const worst = Math.max(0.01, ...drawn.map(([rule]) => rule.unseen));
    const x = (saves) => 46 + 300 * Math.log1p(saves) / Math.log1p(most), y = (unseen) => 180 - 160 * unseen / worst;
    const dots = drawn.map(([rule, place]) => {
      const dot = svg("circle", { class: "dot", cx: x(rule.saves), cy: y(rule.unseen), r: 5 }, svg("title", {}, `${rule.text} (${rule.site}): saves ${count(rule.saves)}, loses at most ${percent(rule.unseen)}`));
      dot.addEventListener("click", () => choose(place, true));
      return dot;
    });
    const ticks = [0, 0.5, 1].flatMap((part) => [
      svg("line", { class: "axis", x1: 46, x2: 350, y1: y(worst * part), y2: y(worst * part) }),
      svg("text", { class: "dim", x: 40, y: y(worst * part) + 4, "text-anchor": "end" }, `${(100 * worst * part).toFixed(worst < 0.05 ? 1 : 0)} %`)]);
    const tens = [0, ...[1, 10, 100, 1000, 1e4, 1e5, 1e6].filter((tick) => tick <= most)];
    const below = tens.filter((tick, at) => tens.length < 6 || at % 2 === 0).map((tick) => svg("text", { class: "dim", x: x(tick), y: 198, "text-anchor": "middle" }, count(tick)));
    const label = drawn.length ? `What ${drawn.length} rules save and may lose; the table of rules has the numbers.` : "No rule in force has bounds yet.";
    $("scatter").append(svg("svg", { viewBox: "0 0 370 215", role: "img", "aria-label": label }, ...ticks, ...below,
      svg("text", { class: "dim", x: 350, y: 212, "text-anchor": "end" }, "URLs saved"), ...dots));
  }

  // Bars of sites lead to their rules.
  for (const button of document.querySelectorAll("button[data-site]")) {
    button.addEventListener("click", () => {
      $("filter").value = button.dataset.site;
      filter();
      $("rules").focus();
    });
  }
  for (const place of document.querySelectorAll("[data-pair]")) {
    place.replaceChildren(pair(data.left[Number(place.dataset.pair)]));
  }

  scatter();
  sort();
  if (state.shown.length) choose(state.shown[0]);
  window.dustReport = { data, filter, rulesOf, byId };
})();
