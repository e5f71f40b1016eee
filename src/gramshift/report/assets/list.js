
  // The list of documents: filtered, sorted and shown page by page.
  const PAGE = 25;
  const LEVELS = 5;
  const order = { list: [], page: 0 };
  const open = new Set();
  let current = -1;  // the document that keys apply to

  const MAX_CHOICES = 12;  // labels that a document offers at once; if there are more, the likely ones
  const N_LIKELY = 9;
  const colour = (code) => (code in MARKS ? "marked" : data.styles[code] ?? data.styles.at(-1));
  const chip = (code) => make("span", { className: `chip ${colour(code)}` }, make("bdi", {}, labelName(code)));
  const SHOW = {
    doubtful: [`less than ${percent(data.doubtful)} sure`, isDoubtful, isDoubtful],
    unreviewed: ["not reviewed yet", (one, number) => !review.labels.has(number), () => true],
    reviewed: ["reviewed", (one, number) => review.labels.has(number), () => true],
    noted: ["with a note", (one, number) => review.notes.has(number), () => true],
    disagree: ["changed by adapting", (one) => "reference" in one && one.reference !== one.label, (one) => "reference" in one],
    wrong: ["wrong", (one) => "truth" in one && one.truth !== classes[one.label], (one) => "truth" in one],
    corrected: ["labelled by a person", (one) => one.corrected, (one) => one.corrected],
    abstained: ["without a label", (one) => one.abstained, (one) => one.abstained],
  };
  const SORT = {
    doubtful: (a, b) => documents[a].confidence - documents[b].confidence || a - b,
    random: (a, b) => (randomPlace[a] ?? Infinity) - (randomPlace[b] ?? Infinity) || a - b,
    sure: (a, b) => documents[b].confidence - documents[a].confidence || a - b,
    file: (a, b) => a - b,
    long: (a, b) => documents[b].text.length - documents[a].text.length || a - b,
  };
  const lowered = [];
  function contains(number, words) {
    const one = documents[number];
    lowered[number] ??= [one.id, one.text, ...(one.more ?? []).map(([, value]) => value)].join("\n").toLowerCase();
    return lowered[number].includes(words);
  }
  function limit(id, otherwise) {
    const value = parseFloat(byId(id).value);
    return Number.isFinite(value) ? value / 100 : otherwise;
  }
  function clearFilters() {
    for (const field of byId("filters").elements) {
      if (field.matches("select")) field.selectedIndex = 0;
      else if (field.matches("input")) field.value = "";
    }
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
    showBulk();
    showScore();
  }
  // Labels for all documents found.
  function showBulk() {
    const n = order.list.filter((number) => !review.labels.has(number)).length;
    byId("bulk").hidden = !n || !byId("search").value.trim();
    byId("bulk-set").textContent = `Set for ${counted(n, "document")}`;
  }
  let lastOffer = "";
  // Update the labels in fields and in the list of keys; return whether they have changed.
  function offerLabels() {
    const codes = offered();
    const offer = JSON.stringify(codes.map((code) => [code, labelName(code)]));
    if (offer === lastOffer) return false;
    lastOffer = offer;
    const marks = Object.entries(MARKS).map(([code, words]) => make("option", { value: code }, words));
    const labels = codes.map((code) => make("option", { value: code }, labelName(code)));
    const wanted = byId("label").value;
    for (const [id, first] of [["label", "any"], ["bulk-label", "choose"]]) {
      const before = byId(id).value;
      const options = [make("option", { value: "" }, first), ...labels, ...marks].map((one) => one.cloneNode(true));
      byId(id).replaceChildren(...options);
      byId(id).value = options.some((one) => one.value === before) ? before : "";
    }
    const withKey = codes.filter((code) => keyOf(code, codes));
    const keys = offeredKeys();
    byId("keys-labels").textContent = areDigits || keys.length < 5 ? keys.join(" ") : keyRange(keys, " … ", " ");
    const rows = withKey.flatMap((code) => [
      make("dt", {}, make("kbd", {}, keyOf(code, codes))),
      make("dd", {}, make("bdi", {}, labelName(code))),
    ]);
    byId("numbers").replaceChildren(...rows);
    if (byId("label").value !== wanted) filter();  // the label no longer exists
    return true;
  }

  const rowOf = (number) => byId(`row-${number}`);
  const shown = () => order.list.slice(order.page * PAGE, (order.page + 1) * PAGE);
  function draw() {
    const pages = Math.max(1, Math.ceil(order.list.length / PAGE));
    byId("list").replaceChildren(...shown().map(drawItem));
    byId("list").start = order.page * PAGE + 1;
    if (!order.list.length) byId("list").append(make("li", { className: "none" }, "No documents match."));
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
    const isOpen = open.has(number);
    const fill = make("span", { className: `fill ${colour(one.label)}` });
    const bar = make("span", { className: "bar", "aria-hidden": "true" }, fill);
    fill.style.width = `${100 * one.confidence}%`;
    const row = make(
      "button",
      { type: "button", id: `row-${number}`, className: "row", "aria-expanded": String(isOpen) },
      make("span", { className: "sure" }, bar, make("span", {}, percent(one.confidence))),
      make("span", { className: "verdict" }, ...drawVerdict(number)),
      make("bdi", { className: "snippet", dir: "auto" }, isOpen ? name(one.id) : beginning(one.text, 240)),
    );
    if (isOpen) row.setAttribute("aria-controls", `panel-${number}`);
    row.addEventListener("click", () => toggle(number));
    row.addEventListener("focus", () => (current = number));
    const item = make("li", { className: review.labels.has(number) ? "item reviewed" : "item" }, row);
    if (isOpen) item.append(drawPanel(number));
    return item;
  }
  function drawVerdict(number) {
    const one = documents[number];
    const mine = review.labels.get(number);
    const badges = [];
    if (mine !== undefined) badges.push(mine === one.label ? "confirmed" : `was ${classes[one.label]}`);
    if (review.notes.has(number)) badges.push("note");
    if (one.corrected) badges.push("given by a person");
    if (one.abstained) badges.push("left without a label");
    if ("reference" in one && one.reference !== one.label) badges.push(`${data.reference}: ${classes[one.reference]}`);
    if ("truth" in one && one.truth !== classes[one.label]) badges.push(`truth: ${one.truth}`);
    return [chip(mine ?? one.label), ...badges.map((badge) => make("bdi", { className: "badge" }, badge))];
  }

  // An open document.
  function drawPanel(number) {
    const one = documents[number];
    const facts = [one.round ? `pseudo-labelled before round ${one.round + 1}` : "never pseudo-labelled"];
    if ("reference" in one) facts.push(`without adapting: ${classes[one.reference]}`);
    if ("truth" in one) facts.push(`truth: ${one.truth}`);
    const text = make("div", { className: "text", dir: "auto", tabIndex: 0, role: "group", "aria-label": `Text of ${name(one.id)}` });
    text.append(...highlighted(one));
    return make(
      "div",
      { id: `panel-${number}`, className: "panel", role: "group", "aria-label": `Document ${name(one.id)}` },
      make(
        "div",
        { className: "reading" },
        drawColumns(one),
        text,
        one.cut ? make("p", { className: "quiet" }, `${one.cut} more characters are not in this page.`) : null,
        one.unexplained ? make("p", { className: "quiet" }, "Not explained: only the least sure documents are.") : null,
        make("p", { className: "quiet facts-line" }, ...facts.map((fact) => make("bdi", {}, fact))),
        drawStrongest(one),
      ),
      make("div", { className: "side" }, drawChoices(number)),
      make("div", { className: "beside" }, make("h3", {}, "Nearest source documents"), drawNearest(one)),
    );
  }
  function drawColumns(one) {
    if (!one.more) return null;
    const pairs = one.more.map(([column, value]) =>
      make("div", {}, make("dt", {}, make("bdi", {}, column)), make("dd", { dir: "auto" }, value)),
    );
    return make("dl", { className: "columns" }, ...pairs);
  }
  function drawChoices(number) {
    const one = documents[number];
    const mine = review.labels.get(number);
    const choice = (code, key, ...more) => {
      const button = make(
        "button",
        { type: "button", className: code in MARKS ? "choice mark" : "choice", "aria-pressed": String(mine === code) },
        make(key ? "kbd" : "span", { className: "key", "aria-hidden": "true" }, key),
        make("bdi", {}, labelName(code)),
        ...more,
      );
      button.addEventListener("click", () => decide(number, code));
      return button;
    };
    const codes = offered();
    const drawChoice = (code) => {
      if (code >= classes.length) return choice(code, keyOf(code, codes));
      const fill = make("span", { className: `fill ${colour(code)}` });
      fill.style.width = `${100 * one.probabilities[code]}%`;
      const bar = make("span", { className: "bar", "aria-hidden": "true" }, fill);
      return choice(code, keyOf(code, codes), bar, make("span", { className: "sure" }, percent(one.probabilities[code])));
    };
    const marks = make("div", { className: "marks" }, choice(UNCLEAR, UNCLEAR_KEY), choice(NONE, "x"));
    const heading = make("h3", {}, "The right label is");
    const isMany = codes.length > MAX_CHOICES;
    const chance = (code) => one.probabilities[code] ?? 1;  // of an added label: it is offered
    const likely = isMany ? [...codes].sort((a, b) => chance(b) - chance(a)).slice(0, N_LIKELY) : codes;
    const isLikely = (code) => likely.includes(code) || code === mine;
    const others = codes.filter((code) => !isLikely(code)).map(drawChoice);
    const more = isMany ? make("details", {}, make("summary", {}, `${others.length} other labels`), ...others) : null;
    const buttons = [...codes.filter(isLikely).map(drawChoice), more];
    const parts = [heading, ...buttons, marks, drawNewLabel(number), drawNote(number)];
    return make("div", { className: "choices", role: "group", "aria-label": "The right label" }, ...parts);
  }
  function drawNewLabel(number) {
    const field = make("input", { type: "text", id: `new-${number}`, maxLength: LONGEST_LABEL, autocomplete: "off" });
    field.setAttribute("list", "names");  // a read-only property
    const button = make("button", { type: "button" }, "Set");
    const set = () => {
      const code = codeOf(field.value);
      if (code === null) return field.focus();
      decide(number, code);
    };
    button.addEventListener("click", set);
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing) return;
      event.preventDefault();
      set();
    });
    return make("div", { className: "new-label" }, make("label", {}, "Another label", field), button);
  }
  function drawNote(number) {
    const field = make("textarea", { id: `note-${number}`, rows: 2, maxLength: LONGEST_NOTE, dir: "auto" });
    field.value = review.notes.get(number) ?? "";
    field.addEventListener("input", () => {
      setNote(number, field.value);
      keep();
      // The row itself is kept: it may be about to be clicked.
      rowOf(number).querySelector(".verdict").replaceChildren(...drawVerdict(number));
      showTally();
    });
    return make("label", { className: "note" }, "Note", field);
  }
  function drawNearest(one) {
    if (!one.near.length) return make("p", { className: "quiet" }, "No source document has an n-gram in common with it.");
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
        make("span", { className: "quiet" }, ` ${percent(similarity)} similar, `, make("bdi", {}, name(id))),
      ),
      make(
        "details",
        {},
        make("summary", {}, make("bdi", { dir: "auto" }, beginning(text, 160))),
        make("div", { className: "text", dir: "auto" }, text + (cut ? " …" : "")),
      ),
    );
  }
  // Return text nodes and marks; offsets count UTF-16 units, as in slice.
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
