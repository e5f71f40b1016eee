  // Labels, marks and notes of a reviewer: kept in the browser, written to a table and read from one.
  // Texts, ids and labels are untrusted: they become text nodes, never markup.
  const UNCLEAR = -1;  // marks are used like codes of labels
  const NONE = -2;
  const MARKS = { [UNCLEAR]: "unclear", [NONE]: "none of these" };
  const NEW = "new label";  // as in --corrections
  // How a document was drawn, as in --corrections.
  const [RANDOM, DOUBTFUL, CHOSEN] = ["random", "doubtful", "chosen"];
  const MIN_RANDOM_LABELS = 10;  // as in --corrections
  const FILE = "corrections.csv";
  const LONGEST_LABEL = 100;
  const LONGEST_NOTE = 2000;
  const LARGEST_FILE = 50e6;
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const { classes, documents, sources } = data;

  // Return an element with properties and children; strings become text.
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
  const counted = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
  function beginning(text, length) {
    const flat = text.slice(0, 2 * length).replace(/\s+/g, " ");
    return flat.length > length ? `${flat.slice(0, length)}…` : flat || "(empty)";
  }
  const name = (id) => beginning(id, 240);  // an id may be as long as any text
  function announce(words) {
    byId("say").textContent = words;
  }
  function showMessage(words) {  // visible, unlike an announcement
    byId("told").textContent = words;
    byId("told").hidden = !words;
  }

  // labels: codes by the number of the document: of a class, of an added label or of a mark.
  // drawn: how documents were drawn, according to a loaded table. steps: for undo, the documents
  // that an action changed, their codes before it, and whether they were open.
  const review = { labels: new Map(), notes: new Map(), drawn: new Map(), added: [], steps: [] };
  const KEY = `gramshift-review-${data.key}`;
  // Return the codes to choose from: of classes, and of added labels that a document has. The
  // other codes remain, because undo may need them.
  function offered() {
    const used = new Set(review.labels.values());
    return [...allLabels().keys()].filter((code) => code < classes.length || used.has(code));
  }
  // Keys of labels: 1 to 9 and the letters that no command has, in their order, or the labels
  // themselves if all classes are digits.
  const LABEL_KEYS = "123456789abcdfghilmoqrstvwyz";
  const areDigits = classes.every((name) => /^[0-9]$/.test(name));
  const UNCLEAR_KEY = areDigits ? "-" : "0";
  function keyOf(code, codes = offered()) {
    if (areDigits) return classes[code] ?? "";
    return LABEL_KEYS[codes.indexOf(code)] ?? "";
  }
  const offeredKeys = () => offered().map((code, place, codes) => keyOf(code, codes)).filter(Boolean);
  // Return the first and the last of the digits among keys, then of the letters.
  function keyRange(keys, to, or) {
    const kinds = [keys.filter((key) => key <= "9"), keys.filter((key) => key > "9")];
    const ends = (some) => (some.length > 1 ? some[0] + to + some.at(-1) : some[0]);
    return kinds.filter((some) => some.length).map(ends).join(or);
  }
  const allLabels = () => [...classes, ...review.added];
  const labelName = (code) => MARKS[code] ?? classes[code] ?? review.added[code - classes.length];
  const isDocument = (number) => Number.isInteger(number) && number in documents;
  const isLabel = (code) => Number.isInteger(code) && code >= NONE && code < classes.length + review.added.length;
  const isNew = (code) => code >= classes.length || data.new.includes(code);

  function forget() {
    for (const one of [review.labels, review.notes, review.drawn]) one.clear();
    review.added = [];
    review.steps = [];
  }
  function recall() {
    let kept = null;
    try {
      kept = localStorage.getItem(KEY);
    } catch (error) {
      warn(error);
    }
    forget();
    try {
      const { labels = [], notes = [], drawn = [], added = [], steps = [] } = JSON.parse(kept);
      for (const one of added) if (typeof one === "string") codeOf(one);
      for (const [number, code] of labels) if (isDocument(number) && isLabel(code)) review.labels.set(number, code);
      for (const [number, note] of notes) if (isDocument(number) && typeof note === "string") setNote(number, note);
      for (const [number, how] of drawn) if (isDocument(number)) setDrawn(number, how);
      const isStep = ([number, before]) => isDocument(number) && (before === null || isLabel(before));
      review.steps = steps.filter((step) => step.length && step.every((one) => Array.isArray(one) && isStep(one)));
    } catch {
      // nothing was kept, or not by this page
    }
  }
  function keep() {
    const { labels, notes, drawn, added, steps } = review;
    try {
      if (labels.size || notes.size) {
        localStorage.setItem(KEY, JSON.stringify({ labels: [...labels], notes: [...notes], drawn: [...drawn], added, steps }));
      } else localStorage.removeItem(KEY);
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
  // Return the code of a label, which is added if it is new; null if it cannot be a label.
  function codeOf(words) {
    const label = allLabels().includes(words) ? words : words.trim().slice(0, LONGEST_LABEL);
    if (!label) return null;
    if (!allLabels().includes(label)) review.added.push(label);
    return allLabels().indexOf(label);
  }
  function setNote(number, note) {
    if (note.trim()) review.notes.set(number, note.slice(0, LONGEST_NOTE));
    else review.notes.delete(number);
  }
  function setDrawn(number, how) {  // random takes precedence
    if (how === RANDOM || (how === DOUBTFUL && !review.drawn.has(number))) review.drawn.set(number, how);
  }
  // Label documents, given as pairs of number and code; undo takes back all of them together.
  function give(pairs, wasOpen = false) {
    review.steps.push(pairs.map(([number]) => [number, review.labels.get(number) ?? null, wasOpen]));
    for (const [number, code] of pairs) review.labels.set(number, code);
    keep();
  }
  function takeBack() {
    const step = review.steps.pop() ?? null;
    for (const [number, before] of step ?? []) {
      if (before === null) review.labels.delete(number);
      else review.labels.set(number, before);
    }
    keep();
    return step;
  }
  const isDoubtful = (one) => one.confidence < data.doubtful && !one.corrected;

  // A random order, the same whenever this page is opened. Corrected documents come last.
  const randomPlace = [];
  const randomOrder = (() => {
    let state = parseInt(data.key.slice(0, 8), 16) || 1;
    const draw = (below) => {  // xorshift
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      return (state >>> 0) % below;
    };
    const numbers = documents.map((one, number) => number).filter((number) => !documents[number].corrected);
    for (let last = numbers.length - 1; last > 0; last--) {
      const other = draw(last + 1);
      [numbers[last], numbers[other]] = [numbers[other], numbers[last]];
    }
    numbers.forEach((number, place) => (randomPlace[number] = place));
    return numbers;
  })();
  // Score the random sample: the first documents in random order, as far as all are reviewed.
  // "None of these" counts as wrong, "unclear" is left out.
  function scoreSample() {
    const found = { right: 0, n: 0, unclear: 0, next: null, numbers: new Set() };
    for (const number of randomOrder) {
      const code = review.labels.get(number);
      if (code === undefined) {
        found.next = number;
        break;
      }
      found.numbers.add(number);
      if (code === UNCLEAR) found.unclear++;
      else {
        found.n++;
        if (code === documents[number].label) found.right++;
      }
    }
    return found;
  }
  // Return a function from documents to how they were drawn: at random if they are in that sample,
  // else according to an earlier run or a loaded table.
  function howDrawn() {
    const { numbers } = scoreSample();
    return (number) => {
      const known = [numbers.has(number) ? RANDOM : CHOSEN, documents[number].drawn, review.drawn.get(number)];
      return [RANDOM, DOUBTFUL].find((how) => known.includes(how)) ?? CHOSEN;
    };
  }
  // Return the code that a person gave to a document, here or before an earlier run.
  const givenTo = (number) => review.labels.get(number) ?? (documents[number].corrected ? documents[number].label : undefined);
  function wilson(right, n) {  // the 95 % interval of a proportion
    const z = 1.96;
    const middle = (right + (z * z) / 2) / (n + z * z);
    const half = (z / (n + z * z)) * Math.sqrt((right * (n - right)) / n + (z * z) / 4);
    return [Math.max(0, middle - half), Math.min(1, middle + half)];
  }

  // Write a table, by RFC 4180. Ids and labels are not changed, so that the next run finds them;
  // lone surrogates, which UTF-8 cannot encode, are escaped as \ud800, as --corrections expects.
  // Labels of earlier runs are included: the next run would not have them otherwise.
  const whole = (text) => text.replace(/\p{Surrogate}/gu, (half) => "\\u" + half.charCodeAt(0).toString(16));
  function toCsv() {
    const quote = (text) => (/[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const lines = [["id", "label", "was", "mark", "note", "drawn"]];
    const drawn = howDrawn();
    documents.forEach((one, number) => {
      const code = givenTo(number);
      const note = review.notes.get(number) ?? "";
      if (code === undefined && !note) return;
      const label = code === undefined || code in MARKS ? "" : labelName(code);
      const mark = MARKS[code] ?? (label && isNew(code) ? NEW : "");
      lines.push([one.id, label, classes[one.label], mark, note, drawn(number)]);
    });
    return lines.map((line) => line.map(whole).map(quote).join(",") + "\r\n").join("");
  }
  // Read rows of cells; the header decides between commas, semicolons and tabs.
  function fromCsv(text) {
    const header = text.slice(0, (text + "\n").search(/[\r\n]/));
    const between = [",", ";", "\t"].find((one) => header.includes(one)) ?? ",";
    const lines = [[]];
    let place = text.startsWith("\ufeff") ? 1 : 0;
    while (place < text.length) {
      let cell = "";
      if (text[place] === '"') {
        for (;;) {
          const end = text.indexOf('"', ++place);
          cell += text.slice(place, end < 0 ? text.length : end);
          place = end < 0 ? text.length : end + 1;
          if (text[place] !== '"') break;
          cell += '"';
        }
      }
      const start = place;
      while (place < text.length && text[place] !== between && text[place] !== "\r" && text[place] !== "\n") place++;
      lines.at(-1).push(cell + text.slice(start, place));
      if (text[place] === "\r" && text[place + 1] === "\n") place++;
      if (text[place] !== between && place < text.length) lines.push([]);
      else if (text[place] === between && place + 1 === text.length) lines.at(-1).push("");
      place++;
    }
    return lines.filter((line) => line.length > 1 || line[0]);
  }
  // Load an earlier table; labels that are set here are kept. Return a sentence on the result.
  function take(text, from) {
    const [header = [], ...lines] = fromCsv(text);
    const column = Object.fromEntries(header.map((cell, place) => [cell.trim().toLowerCase(), place]));
    if (!("id" in column && "label" in column)) return `${from} has no columns id and label: it is not a table of corrections.`;
    const numbers = new Map();
    documents.forEach((one, number) => numbers.set(whole(one.id), number).set(one.id, number));
    const escaped = new Map(allLabels().map((label) => [whole(label), label]));
    const found = { pairs: [], notes: 0, strange: 0, known: 0, classless: new Set() };
    for (const line of lines) {
      const [id, label, mark, note, drawn] = ["id", "label", "mark", "note", "drawn"].map((key) => line[column[key]] ?? "");
      const number = numbers.get(id);
      if (number === undefined) {
        found.strange++;
        continue;
      }
      if (note.trim() && !review.notes.has(number)) {
        setNote(number, note);
        found.notes++;
      }
      const meant = escaped.get(label) ?? label;
      let code = allLabels().indexOf(meant);
      if (!label.trim()) code = mark === MARKS[UNCLEAR] ? UNCLEAR : mark === MARKS[NONE] ? NONE : null;
      else if (code < 0) code = mark.trim().toLowerCase() === NEW ? codeOf(meant) : undefined;
      if (code === undefined) found.classless.add(label);
      if (code === undefined || code === null) continue;
      setDrawn(number, drawn.trim().toLowerCase());
      if (review.labels.has(number) || (documents[number].corrected && documents[number].label === code)) found.known++;
      else found.pairs.push([number, code]);
    }
    const last = new Map(found.pairs);
    if (last.size) give([...last]);
    keep();
    const parts = [`${from}: ${counted(last.size, "label")} and ${counted(found.notes, "note")} loaded`];
    if (found.known) parts.push(`${found.known} already known here`);
    if (found.strange) parts.push(`${counted(found.strange, "id")} not on this page`);
    if (found.classless.size) parts.push(`no class is called ${[...found.classless].slice(0, 5).map(name).join(", ")}`);
    return `${parts.join("; ")}.`;
  }
