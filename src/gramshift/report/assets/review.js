
  // Navigation: scroll the current document into view, all of it if possible.
  function toggle(number) {
    if (!open.delete(number)) open.add(number);
    refresh(number);
    focusOn(number);
  }
  function focusOn(number) {
    current = number;
    const row = rowOf(number);
    row.focus({ preventScroll: true });
    const item = row.closest("li");
    const { top, bottom } = item.getBoundingClientRect();
    const isSeen = top >= 0 && bottom <= innerHeight - byId("review").offsetHeight;
    if (!isSeen) item.scrollIntoView({ block: open.has(number) ? "start" : "nearest" });
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
  // Turn to the page of a document and open it alone.
  function goTo(number) {
    const place = order.list.indexOf(number);
    if (place < 0) return;
    order.page = Math.floor(place / PAGE);
    open.clear();
    open.add(number);
    draw();
    focusOn(number);
  }
  function begin(show, sort) {
    clearFilters();
    byId("show").value = [...byId("show").options].some((one) => one.value === show) ? show : "";
    byId("sort").value = sort;
    filter();
    const first = order.list.find((number) => !review.labels.has(number)) ?? order.list[0];
    if (first !== undefined) goTo(first);
  }

  // Label a document and go on to the next, which opens if this one was open.
  function decide(number, code) {
    const wasOpen = open.delete(number);
    const label = documents[number].label;
    give([[number, code]], wasOpen);
    if (offerLabels()) draw();  // all open documents show the new choices
    else refresh(number);
    showTally();
    announce(`${name(documents[number].id)}: ${labelName(code)}, ${code === label ? "as it was" : `was ${classes[label]}`}`);
    current = number;
    move(1);
    if (wasOpen && current !== number && rowOf(current) && !open.has(current)) {
      open.add(current);
      refresh(current);
    }
    if (rowOf(current)) focusOn(current);
  }
  function undo() {
    const step = takeBack();
    if (!step) return announce("Nothing to undo");
    const isOther = offerLabels();
    showTally();
    const [[number, , wasOpen]] = step;
    announce(step.length > 1 ? `Undone: ${step.length} labels` : `Undone: ${name(documents[number].id)}`);
    if (step.length > 1 || !order.list.includes(number)) return draw();
    if (wasOpen) return goTo(number);
    if (isOther) draw();
    else refresh(number);
    if (rowOf(number)) focusOn(number);
  }
  function setAll() {
    const value = byId("bulk-label").value;
    if (value === "") return byId("bulk-label").focus();
    const numbers = order.list.filter((number) => !review.labels.has(number));
    if (!confirm(`Set "${labelName(Number(value))}" for all ${numbers.length} documents found that you have not reviewed?`)) return;
    give(numbers.map((number) => [number, Number(value)]));
    offerLabels();
    draw();
    showTally();
    showMessage(`${counted(numbers.length, "document")} labelled ${labelName(Number(value))}; Undo takes all of it back.`);
  }
  function clear() {
    if (!confirm(`Forget all ${review.labels.size} labels and ${review.notes.size} notes that you set here?`)) return;
    forget();
    keep();
    offerLabels();
    draw();
    showTally();
    byId("after").hidden = true;
  }

  // Progress of the review, and the accuracy that it suggests.
  function showTally() {
    const codes = [...review.labels];
    const given = codes.filter(([, code]) => !(code in MARKS));
    const changed = given.filter(([number, code]) => documents[number].label !== code).length;
    const others = Object.keys(MARKS)
      .map((mark) => [codes.filter(([, code]) => code === Number(mark)).length, MARKS[mark]])
      .concat([[review.notes.size, review.notes.size === 1 ? "note" : "notes"]])
      .filter(([n]) => n)
      .map(([n, words]) => `, ${n} ${words}`);
    const isEmpty = codes.length + review.notes.size === 0;
    const keys = offeredKeys();
    const ways = areDigits || keys.length < 3 ? keys.join(" or ") : keyRange(keys, " to ", " or ");
    byId("tally").textContent = isEmpty
      ? `No label set yet. Select a document and press ${ways}, or open it and choose.`
      : `${counted(given.length, "label")} set, ${changed} changed and ${given.length - changed} confirmed${others.join("")}`;
    byId("review").classList.toggle("empty", isEmpty);
    byId("undo").disabled = review.steps.length === 0;
    byId("clear").disabled = byId("download").disabled = isEmpty;
    const doubtful = documents.filter(isDoubtful).length;
    const left = documents.filter((one, number) => isDoubtful(one) && !review.labels.has(number)).length;
    byId("begin").textContent = left ? `Review ${counted(left, "doubtful document")}` : "Review documents, least sure first";
    byId("begun").textContent = left < doubtful ? `${doubtful - left} of ${doubtful} doubtful documents reviewed` : "";
    showBulk();
    showScore();
  }
  function showScore() {
    const { right, n, unclear, next } = scoreSample();
    const isRandom = byId("sort").value === "random";
    let words = "";
    if (n) {
      const [low, high] = wilson(right, n).map(percent);
      words = `Random sample: ${right} of ${n} right, accuracy ${percent(right / n)} (${low} to ${high})`;
      if (unclear) words += `; ${unclear} unclear left out`;
    } else if (review.labels.size && !(isRandom && unclear)) {
      words = 'These are not a random sample, so they do not measure accuracy. Press "Score a random sample" for that.';
    }
    const skipped = isRandom && next !== null && randomOrder.slice(randomPlace[next]).some((number) => review.labels.has(number));
    if (n && skipped) words += `; review document ${beginning(documents[next].id, 40)} to extend the sample`;
    byId("score").textContent = words;
    byId("score").hidden = !words;
    byId("use").replaceChildren(...(n ? describeUse(isRandom) : []));
    byId("use").hidden = !byId("use").hasChildNodes();
  }
  // Return parts of a sentence on how the next run uses a random sample; none without a command.
  function describeUse(isRandom) {
    if (!data.command.includes("--corrections")) return [];
    const drawn = howDrawn();
    const isUsed = (number) => (givenTo(number) ?? NONE) >= 0 && drawn(number) === RANDOM;
    const left = MIN_RANDOM_LABELS - documents.filter((one, number) => isUsed(number)).length;
    if (left > 0) return isRandom ? [`Label ${left} more to use the sample in the next run.`] : [];
    const use = ": they then set the class proportions and measure the accuracy.";
    return ["Download the labels and run again with ", make("code", {}, "--corrections"), use];
  }

  // Download, copy the next command, and load earlier corrections.
  function download() {
    const address = URL.createObjectURL(new Blob([toCsv()], { type: "text/csv;charset=utf-8" }));
    const link = make("a", { href: address, download: FILE });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
    const earlier = documents.filter((one, number) => one.corrected && !review.labels.has(number)).length;
    const more = earlier ? ` and ${earlier} of earlier runs` : "";
    const said = new Set([...review.labels.keys(), ...review.notes.keys()]).size;
    const words = `${counted(said, "document")}${more} saved as ${FILE} in the download folder of your browser.`;
    byId("saved").textContent = data.command ? `${words} Now run (adjust the path to ${FILE}):` : words;
    // Lines break between words, not at hyphens.
    const parts = data.command.split(/(?<= )/).map((part) => make("span", {}, part));
    byId("command").replaceChildren(...parts);
    byId("command").hidden = byId("copy").hidden = !data.command;
    byId("copy").textContent = "Copy";
    byId("after").hidden = false;
    showMessage("");
    announce(words);
  }
  async function copy() {
    try {
      await navigator.clipboard.writeText(data.command);
    } catch {  // no clipboard: select the command
      getSelection().selectAllChildren(byId("command"));
      byId("copy").textContent = "Selected: press Ctrl+C";
      return;
    }
    byId("copy").textContent = "Copied";
    announce("Command copied");
  }
  async function load() {
    const [file] = byId("file").files;
    if (!file) return;
    const from = beginning(file.name, 60);
    let words = `${from} is too large to be a table of corrections.`;
    try {
      if (file.size <= LARGEST_FILE) words = take(await file.text(), from);
    } catch (error) {
      words = `${from} cannot be read (${error.name}).`;
    }
    byId("file").value = "";
    offerLabels();
    draw();
    showTally();
    showMessage(words);
  }

  // Keys and buttons.
  function openField(prefix) {
    if (!rowOf(current)) move(1);
    if (!rowOf(current)) return;
    if (!open.has(current)) toggle(current);
    byId(`${prefix}-${current}`).focus();
  }
  const mark = (code) => rowOf(current) && decide(current, code);
  const KEYS = {
    j: () => move(1),
    k: () => move(-1),
    u: undo,
    [UNCLEAR_KEY]: () => mark(UNCLEAR),
    x: () => mark(NONE),
    e: () => openField("note"),
    "+": () => openField("new"),
    n: () => turn(1) && focusOn(shown()[0]),
    p: () => turn(-1) && focusOn(shown()[0]),
    "/": () => byId("search").focus(),
    "?": () => {
      byId("keys").showModal();
      byId("keys").scrollTop = 0;  // the focus is on the button at its end
    },
  };
  function onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || byId("keys").open || !byId("shortcuts").checked) return;
    if (event.target.closest("input, select, textarea")) {
      if (event.key !== "Escape") return;
      event.target.blur();
      if (event.target.closest(".panel") && rowOf(current)) rowOf(current).focus({ preventScroll: true });
      return;
    }
    const codes = offered();
    const code = codes.find((one) => keyOf(one, codes) === event.key);
    if (code !== undefined && rowOf(current)) decide(current, code);
    else if (Object.hasOwn(KEYS, event.key)) KEYS[event.key]();
    else if (event.target.matches(".row") && event.key === "ArrowDown") move(1);
    else if (event.target.matches(".row") && event.key === "ArrowUp") move(-1);
    else return;
    event.preventDefault();
  }

  function start() {
    byId("key-unclear").textContent = UNCLEAR_KEY;
    for (const [key, [words, , possible]] of Object.entries(SHOW)) {
      if (documents.some(possible)) byId("show").append(make("option", { value: key }, words));
    }
    const form = byId("filters");
    let waiting = 0;
    form.addEventListener("input", (event) => {
      clearTimeout(waiting);
      waiting = setTimeout(filter, event.target.id === "search" ? 150 : 0);
    });
    form.addEventListener("reset", () => setTimeout(filter, 0));
    form.addEventListener("submit", (event) => event.preventDefault());
    const clicks = {
      previous: KEYS.p, next: KEYS.n, help: KEYS["?"], undo, clear, download, copy, "bulk-set": setAll,
      begin: () => begin("doubtful", "doubtful"),
      sample: () => begin("", "random"),
      load: () => byId("file").click(),
      done: () => (byId("after").hidden = true),
    };
    for (const [id, act] of Object.entries(clicks)) byId(id).addEventListener("click", act);
    byId("file").addEventListener("change", load);
    document.addEventListener("keydown", onKey);
    window.addEventListener("storage", (event) => {  // another window of the same report
      if (event.key !== KEY && event.key !== null) return;
      recall();
      offerLabels();
      draw();
      showTally();
    });
    new ResizeObserver(() => {  // targets of scrolling must not be covered by the bar
      document.documentElement.style.scrollPaddingBottom = `${byId("review").offsetHeight + 24}px`;
    }).observe(byId("review"));
    form.hidden = byId("review").hidden = byId("start").hidden = false;
    recall();
    clearFilters();  // a browser may have kept them
    offerLabels();
    filter();
    showTally();
  }
  start();
