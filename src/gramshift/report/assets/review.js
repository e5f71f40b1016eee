// The list of documents and the review. Texts, ids and labels are untrusted: they become text nodes, never markup.
"use strict";
{
  const PAGE = 25;
  const COLOURS = 8;
  const LEVELS = 5;
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const { classes, documents, sources } = data;
  const order = { list: [], page: 0 };
  const open = new Set();
  let current = -1;  // the document that keys act on

  // An element with properties and children; strings become text.
  function make(tag, properties = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name in element) element[name] = value;
      else element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null));
    return element;
  }
  const percent = (value) => `${Math.round(100 * value)}\u202f%`;
  const colour = (code) => `c${code % COLOURS}`;
  const chip = (code) => make("span", { className: `chip ${colour(code)}` }, make("bdi", {}, classes[code]));
  function beginning(text, length) {
    const flat = text.slice(0, 2 * length).replace(/\s+/g, " ");
    return flat.length > length ? `${flat.slice(0, length)}…` : flat || "(empty)";
  }
  function say(words) {
    byId("say").textContent = words;
  }

  // The reviewer's labels: of which documents, and the steps back. Kept in the browser under the digest of the run.
  const review = { labels: new Map(), steps: [] };
  const KEY = `gramshift-review-${data.key}`;

  function recall() {
    let kept = null;
    try {
      kept = localStorage.getItem(KEY);
    } catch (error) {
      warn(error);
    }
    const isDocument = (number) => Number.isInteger(number) && number in documents;
    const isClass = (code) => Number.isInteger(code) && code in classes;
    review.labels.clear();
    review.steps = [];
    try {
      const { labels, steps } = JSON.parse(kept);
      for (const [number, code] of labels) if (isDocument(number) && isClass(code)) review.labels.set(number, code);
      review.steps = steps.filter(([number, code]) => isDocument(number) && (code === null || isClass(code)));
    } catch {
      // nothing kept, or not by us
    }
  }
  function keep() {
    try {
      if (review.labels.size) localStorage.setItem(KEY, JSON.stringify({ labels: [...review.labels], steps: review.steps }));
      else localStorage.removeItem(KEY);
      byId("trouble").hidden = true;
    } catch (error) {
      warn(error);
    }
  }
  function warn(error) {
    const advice = "download your labels before you close it";
    byId("trouble").textContent = `This browser keeps nothing for this page (${error.name}): ${advice}.`;
    byId("trouble").hidden = byId("review").hidden = false;
  }
  function setLabel(number, code) {
    review.steps.push([number, review.labels.get(number) ?? null]);
    review.labels.set(number, code);
    keep();
    refresh(number);
    tellTally();
    const same = code === documents[number].label ? "as it was" : `was ${classes[documents[number].label]}`;
    say(`${documents[number].id}: ${classes[code]}, ${same}`);
  }
  function undo() {
    const step = review.steps.pop();
    if (!step) return say("Nothing to undo");
    const [number, before] = step;
    if (before === null) review.labels.delete(number);
    else review.labels.set(number, before);
    keep();
    refresh(number);
    tellTally();
    if (rowOf(number)) focusOn(number);
    say(`Undone: ${documents[number].id}`);
  }
  function clear() {
    if (!confirm(`Forget all ${review.labels.size} labels that you set here?`)) return;
    review.labels.clear();
    review.steps = [];
    keep();
    draw();
    tellTally();
  }
  function tellTally() {
    const n = review.labels.size;
    const changed = [...review.labels].filter(([number, code]) => documents[number].label !== code).length;
    byId("tally").textContent = n
      ? `${n} ${n === 1 ? "label" : "labels"} set, ${changed} changed and ${n - changed} confirmed`
      : "No label set yet. Open a document and choose, or press 1 to 9 on it.";
    byId("review").classList.toggle("empty", n === 0);
    byId("undo").disabled = review.steps.length === 0;
    byId("clear").disabled = byId("download").disabled = n === 0;
  }

  // Downloading: RFC 4180. Ids and labels are written as they are, or the next run could not find them.
  function toCsv() {
    const quote = (text) => (/[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const rows = [...review.labels].sort((a, b) => a[0] - b[0]);
    const lines = rows.map(([number, code]) => [documents[number].id, classes[code], classes[documents[number].label]]);
    return [["id", "label", "was"], ...lines].map((line) => line.map(quote).join(",") + "\r\n").join("");
  }
  function download() {
    const address = URL.createObjectURL(new Blob([toCsv()], { type: "text/csv;charset=utf-8" }));
    const link = make("a", { href: address, download: "corrections.csv" });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
    say(`${review.labels.size} labels written to corrections.csv`);
  }

  // Filters and order.
  const SHOW = {
    unreviewed: ["not reviewed yet", (one, number) => !review.labels.has(number), () => true],
    reviewed: ["reviewed", (one, number) => review.labels.has(number), () => true],
    disagree: ["plain kernel disagrees", (one) => "plain" in one && one.plain !== one.label, (one) => "plain" in one],
    wrong: ["wrong", (one) => "truth" in one && one.truth !== classes[one.label], (one) => "truth" in one],
    corrected: ["label given by a person", (one) => one.corrected, (one) => one.corrected],
    abstained: ["left without a label", (one) => one.abstained, (one) => one.abstained],
  };
  const SORT = {
    doubtful: (a, b) => documents[a].confidence - documents[b].confidence || a - b,
    sure: (a, b) => documents[b].confidence - documents[a].confidence || a - b,
    file: (a, b) => a - b,
    long: (a, b) => documents[b].text.length - documents[a].text.length || a - b,
  };
  const lowered = [];
  function contains(number, words) {
    lowered[number] ??= `${documents[number].id}\n${documents[number].text}`.toLowerCase();
    return lowered[number].includes(words);
  }
  function limit(id, otherwise) {
    const value = parseFloat(byId(id).value);
    return Number.isFinite(value) ? value / 100 : otherwise;
  }
  function filter() {
    const words = byId("search").value.trim().toLowerCase();
    const [label, round, show] = ["label", "round", "show"].map((id) => byId(id).value);
    const [low, high] = [limit("low", 0), limit("high", 1)];
    const chosen = [];
    documents.forEach((one, number) => {
      const given = review.labels.get(number) ?? one.label;
      const wanted =
        (label === "" || given === Number(label)) &&
        one.confidence >= low - 5e-5 && one.confidence <= high + 5e-5 &&
        (round === "" || one.round === Number(round)) &&
        (show === "" || SHOW[show][1](one, number)) &&
        (words === "" || contains(number, words));
      if (wanted) chosen.push(number);
    });
    order.list = chosen.sort(SORT[byId("sort").value]);
    order.page = 0;
    draw();
    const all = documents.length;
    byId("count").textContent = chosen.length === all ? `${all} documents` : `${chosen.length} of ${all} documents`;
  }

  // Drawing one page of the list.
  const rowOf = (number) => byId(`row-${number}`);
  const shown = () => order.list.slice(order.page * PAGE, (order.page + 1) * PAGE);
  function draw() {
    const pages = Math.max(1, Math.ceil(order.list.length / PAGE));
    byId("list").replaceChildren(...shown().map(drawItem));
    byId("list").start = order.page * PAGE + 1;
    if (!order.list.length) byId("list").append(make("li", { className: "none" }, "No document is like that."));
    byId("page").textContent = `page ${order.page + 1} of ${pages}`;
    byId("previous").disabled = order.page === 0;
    byId("next").disabled = order.page + 1 >= pages;
    byId("pager").hidden = pages === 1;
  }
  function refresh(number) {
    rowOf(number)?.closest("li").replaceWith(drawItem(number));
  }
  function drawItem(number) {
    const one = documents[number];
    const mine = review.labels.get(number);
    const isOpen = open.has(number);
    const fill = make("span", { className: `fill ${colour(one.label)}` });
    const bar = make("span", { className: "bar", "aria-hidden": "true" }, fill);
    fill.style.width = `${100 * one.confidence}%`;
    const row = make(
      "button",
      { type: "button", id: `row-${number}`, className: "row", "aria-expanded": String(isOpen) },
      make("span", { className: "sure" }, bar, make("span", {}, percent(one.confidence))),
      make("span", { className: "verdict" }, chip(mine ?? one.label), ...badges(one, mine)),
      make("bdi", { className: "snippet", dir: "auto" }, isOpen ? one.id : beginning(one.text, 240)),
    );
    if (isOpen) row.setAttribute("aria-controls", `panel-${number}`);
    row.addEventListener("click", () => toggle(number));
    row.addEventListener("focus", () => (current = number));
    const item = make("li", { className: mine === undefined ? "item" : "item reviewed" }, row);
    if (isOpen) item.append(drawPanel(number));
    return item;
  }
  function badges(one, mine) {
    const notes = [];
    if (mine !== undefined) notes.push(mine === one.label ? "confirmed" : `was ${classes[one.label]}`);
    if (one.corrected) notes.push("given by a person");
    if (one.abstained) notes.push("left without a label");
    if ("plain" in one && one.plain !== one.label) notes.push(`plain: ${classes[one.plain]}`);
    if ("truth" in one && one.truth !== classes[one.label]) notes.push(`truth: ${one.truth}`);
    return notes.map((note) => make("bdi", { className: "badge" }, note));
  }
  function drawPanel(number) {
    const one = documents[number];
    const facts = [one.round ? `joined for round ${one.round + 1}` : "never joined the training set"];
    if ("plain" in one) facts.push(`plain kernel: ${classes[one.plain]}`);
    if ("truth" in one) facts.push(`truth: ${one.truth}`);
    const text = make("div", { className: "text", dir: "auto", tabIndex: 0, role: "group", "aria-label": `Text of ${one.id}` });
    text.append(...highlighted(one));
    return make(
      "div",
      { id: `panel-${number}`, className: "panel", role: "group", "aria-label": `Document ${one.id}` },
      make(
        "div",
        { className: "reading" },
        text,
        one.cut ? make("p", { className: "quiet" }, `${one.cut} more characters are not in this page.`) : null,
        one.unexplained ? make("p", { className: "quiet" }, "Not explained: only the least sure documents are.") : null,
        make("p", { className: "quiet facts-line" }, ...facts.map((fact) => make("bdi", {}, fact))),
        drawStrongest(one),
      ),
      make("div", { className: "side" }, drawChoices(number)),
      make("div", { className: "beside" }, make("h4", {}, "Nearest source documents"), drawNearest(one)),
    );
  }
  function drawChoices(number) {
    const one = documents[number];
    const mine = review.labels.get(number);
    const buttons = classes.map((name, code) => {
      const fill = make("span", { className: `fill ${colour(code)}` });
      fill.style.width = `${100 * one.probabilities[code]}%`;
      const button = make(
        "button",
        { type: "button", className: "choice", "aria-pressed": String(mine === code) },
        code < 9 ? make("kbd", { "aria-hidden": "true" }, String(code + 1)) : null,
        make("bdi", {}, name),
        make("span", { className: "bar", "aria-hidden": "true" }, fill),
        make("span", { className: "sure" }, percent(one.probabilities[code])),
      );
      button.addEventListener("click", () => decide(number, code));
      return button;
    });
    const heading = make("h4", {}, "The right label is");
    return make("div", { className: "choices", role: "group", "aria-label": "The right label" }, heading, ...buttons);
  }
  function drawNearest(one) {
    if (!one.near.length) return make("p", { className: "quiet" }, "None has an n-gram in common with it.");
    return make("ul", { className: "near" }, ...one.near.map(drawNear));
  }
  function drawNear([place, similarity]) {
    const [id, label, text, cut] = sources[place];
    const code = classes.indexOf(label);
    return make(
      "li",
      {},
      make(
        "p",
        {},
        code >= 0 ? chip(code) : make("bdi", {}, label),
        make("span", { className: "quiet" }, ` ${percent(similarity)} alike, `, make("bdi", {}, id)),
      ),
      make(
        "details",
        {},
        make("summary", {}, make("bdi", { dir: "auto" }, beginning(text, 160))),
        make("div", { className: "text", dir: "auto" }, text + (cut ? " …" : "")),
      ),
    );
  }
  // Text nodes and marks; offsets count UTF-16 units, as slice does.
  function highlighted(one) {
    const parts = [];
    let place = 0;
    for (const [start, stop, strength, code] of one.spans) {
      parts.push(one.text.slice(place, start));
      const level = Math.max(1, Math.ceil(LEVELS * strength));
      const title = `for ${classes[code]}, strength ${percent(strength)}`;
      parts.push(make("mark", { className: `${colour(code)} s${level}`, title }, one.text.slice(start, stop)));
      place = stop;
    }
    parts.push(one.text.slice(place) || (one.text ? "" : "(empty)"));
    return parts;
  }
  function drawStrongest(one) {
    if (!one.spans.length) return null;
    const strongest = [...one.spans].sort((a, b) => b[2] - a[2]);
    const rows = strongest.map(([start, stop, strength, code]) => {
      const quote = make("bdi", { className: "quote" }, one.text.slice(start, stop));
      return make("li", {}, chip(code), " ", quote, make("span", { className: "quiet" }, ` ${percent(strength)}`));
    });
    const summary = make("summary", {}, "What decided, strongest first");
    return make("details", { className: "strongest" }, summary, make("ol", {}, ...rows));
  }

  // Moving about.
  function toggle(number) {
    if (!open.delete(number)) open.add(number);
    refresh(number);
    rowOf(number).focus();
  }
  function focusOn(number) {
    current = number;
    const row = rowOf(number);
    row.focus({ preventScroll: true });
    row.closest("li").scrollIntoView({ block: "nearest" });
  }
  function turn(by) {
    const pages = Math.ceil(order.list.length / PAGE);
    if (order.page + by < 0 || order.page + by >= pages) return false;
    order.page += by;
    draw();
    return true;
  }
  function move(by) {
    const here = shown();
    const place = here.indexOf(current);
    if (place < 0) return here.length && focusOn(here[by > 0 ? 0 : here.length - 1]);
    if (place + by >= 0 && place + by < here.length) return focusOn(here[place + by]);
    if (turn(by)) focusOn(by > 0 ? shown()[0] : shown().at(-1));
  }
  // Set the label and go on; if the document was open the next one opens in its place.
  function decide(number, code) {
    const wasOpen = open.delete(number);
    setLabel(number, code);
    current = number;
    move(1);
    if (wasOpen && current !== number && rowOf(current) && !open.has(current)) {
      open.add(current);
      refresh(current);
    }
    if (rowOf(current)) focusOn(current);
  }

  const KEYS = {
    j: () => move(1),
    k: () => move(-1),
    u: undo,
    n: () => turn(1) && focusOn(shown()[0]),
    p: () => turn(-1) && focusOn(shown()[0]),
    "/": () => byId("search").focus(),
    "?": () => byId("keys").showModal(),
  };
  function onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || byId("keys").open || !byId("shortcuts").checked) return;
    if (event.target.closest("input, select, textarea")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const code = Number(event.key) - 1;
    if (/^[1-9]$/.test(event.key) && code < classes.length && rowOf(current)) decide(current, code);
    else if (Object.hasOwn(KEYS, event.key)) KEYS[event.key]();
    else if (event.target.matches(".row") && event.key === "ArrowDown") move(1);
    else if (event.target.matches(".row") && event.key === "ArrowUp") move(-1);
    else return;
    event.preventDefault();
  }

  function start() {
    classes.forEach((name, code) => byId("label").append(make("option", { value: code }, name)));
    for (const [key, [words, , possible]] of Object.entries(SHOW)) {
      if (documents.some(possible)) byId("show").append(make("option", { value: key }, words));
    }
    classes.slice(0, 9).forEach((name, code) => {
      byId("numbers").append(make("kbd", {}, String(code + 1)), " ", make("bdi", {}, name), "  ");
    });
    const form = byId("filters");
    let waiting = 0;
    form.addEventListener("input", (event) => {
      clearTimeout(waiting);
      waiting = setTimeout(filter, event.target.id === "search" ? 150 : 0);
    });
    form.addEventListener("reset", () => setTimeout(filter, 0));
    form.addEventListener("submit", (event) => event.preventDefault());
    const clicks = { previous: KEYS.p, next: KEYS.n, undo, clear, download, help: KEYS["?"] };
    for (const [id, act] of Object.entries(clicks)) byId(id).addEventListener("click", act);
    document.addEventListener("keydown", onKey);
    window.addEventListener("storage", (event) => {  // another window of the same report
      if (event.key !== KEY && event.key !== null) return;
      recall();
      draw();
      tellTally();
    });
    form.hidden = byId("review").hidden = false;
    recall();
    form.reset();
    filter();
    tellTally();
  }
  start();
}
