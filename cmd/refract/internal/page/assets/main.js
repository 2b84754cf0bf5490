// Joins the parts: the filters, the list and the segment that is read.

const option = (value, label) => make("option", { value: String(value) }, label);

const fillSelect = (select, options) => {
  select.replaceChildren(...options.map(([value, label]) => option(value, label)));
  const only = options.length < 2;
  select.closest("label").hidden = only;
};

const makeState = (measures, data) => ({
  measures, rows: "segments", search: "", domain: -1, system: -1, sort: "order", least: 0, prompt: -1, errors: false,
  score: measures.find((m) => !m.human) ?? measures[0] ?? null,
  against: measures.find((m) => m.human) ?? measures[1] ?? null,
});

const readFilters = (state) => {
  const number = (id) => Number(byId(id).value);
  state.rows = byId("f-rows").value;
  state.search = byId("f-search").value.trim().toLowerCase();
  state.domain = number("f-domain");
  state.system = number("f-system");
  state.score = state.measures[number("f-score")] ?? null;
  state.against = state.measures[number("f-against")] ?? null;
  state.sort = state.score && state.against ? byId("f-sort").value : "order";
  state.least = number("f-least");
  state.prompt = number("f-prompt");
  state.errors = byId("f-errors").checked;
};

const setUpFilters = (data, state) => {
  const measures = state.measures.map((m, i) => [i, m.name]);
  fillSelect(byId("f-score"), measures);
  fillSelect(byId("f-against"), measures);
  byId("f-score").value = String(state.measures.indexOf(state.score));
  byId("f-against").value = String(state.measures.indexOf(state.against));
  for (const id of ["f-score", "f-against"]) { // what a reset goes back to
    for (const o of byId(id).options) o.defaultSelected = o.selected;
  }
  const named = (names, any, from) => [[-1, any], ...names.map((name, i) => [i + from, name || "none stated"])];
  fillSelect(byId("f-domain"), data.domains.length > 1 ? named(data.domains, "all", 0) : [[-1, "all"]]);
  fillSelect(byId("f-system"), named(data.systems, "all", 0));
  fillSelect(byId("f-prompt"), [[-1, "any"], [0, "an original"], ...data.prompts.map((name, i) => [i + 1, name])]);
  const anyError = data.flags.some((f) => f & errorFlag);
  byId("f-errors").closest("label").hidden = !anyError;
};

/** The filters and the order that differ from the first ones, for the address. */
const controls = () => [...byId("filters").elements].filter((c) => c.id.startsWith("f-"));
const standard = (c) => (c.tagName === "SELECT" ? ([...c.options].find((o) => o.defaultSelected) ?? c.options[0])?.value : c.defaultValue);

const toAddress = (s) => {
  const asked = new URLSearchParams();
  for (const c of controls()) {
    if (c.type === "checkbox") {
      if (c.checked) asked.set(c.id.slice(2), "1");
    } else if (c.value !== standard(c)) asked.set(c.id.slice(2), c.value);
  }
  const filters = asked.toString();
  return (s < 0 ? "#segments" : "#segment-" + (s + 1)) + (filters === "" ? "" : "&" + filters);
};

/** Sets the filters as an address says; what it does not know stays. Returns the segment, -1 for none, or null for another address. */
const fromAddress = (address) => {
  const found = /^#segment(?:s|-(\d+))(?:&(.*))?$/s.exec(address);
  if (!found) return null;
  for (const [name, value] of new URLSearchParams(found[2] ?? "")) {
    const c = controls().find((c) => c.id === "f-" + name);
    if (!c) continue;
    if (c.type === "checkbox") c.checked = value === "1";
    else if (c.tagName !== "SELECT" || [...c.options].some((o) => o.value === value)) c.value = value;
    if (c.closest("details")) c.closest("details").open = true;
  }
  return found[1] === undefined ? -1 : Number(found[1]) - 1;
};

const setUpExplorer = async () => {
  const started = performance.now();
  const data = await openData();
  const measures = measuresOf(data);
  const state = makeState(measures, data);
  const status = byId("status");
  const panes = byId("panes");
  const announce = (text) => { byId("said").textContent = text; };
  const report = (text) => { status.textContent = text; };
  const wide = matchMedia("(min-width: 56rem)");
  let disagreement = null;

  setUpFilters(data, state);

  const segmentOf = (row) => (state.rows === "outputs" ? data.segmentOf[row] : row);
  const outputOf = (row) => (state.rows === "outputs" ? row - data.outputStart[data.segmentOf[row]] : -1);

  const gapMeter = (gap) => {
    const meter = make("span", { class: "gap", title: "disagreement" }, make("span", { class: "unseen" }, "disagreement "), gap.toFixed(2));
    meter.style.setProperty("--share", String(gap));
    return meter;
  };

  const fillRow = (element, row) => {
    const s = segmentOf(row);
    const segment = data.now(s);
    if (!segment) {
      element.replaceChildren(make("span", { class: "quiet" }, "…"));
      data.segment(s).then(() => { if (element.isConnected || !element.parentElement) fillRow(element, row); }, () => {});
      return;
    }
    const output = outputOf(row);
    const text = output >= 0 ? segment.outputs[output].text : segment.source ?? segment.references[0]?.text;
    const line = make("span", { class: "line", dir: "auto" });
    if (text === null || text === undefined) line.append(make("i", {}, "no text"));
    else appendText(line, text.slice(0, 240).replace(/[\n\r\t]+/g, " "));
    const measured = (m) => m && make("span", { class: "measure" }, shown(m.values[row], m.digits));
    const gap = disagreement?.[row];
    element.replaceChildren(
      make("span", { class: "row-head" },
        make("bdi", { class: "id" }, plainText(segment.id.slice(0, 80))),
        output >= 0 ? make("bdi", { class: "system" }, data.systems[data.system[row]]) : null,
        data.domains.length > 1 ? make("bdi", { class: "quiet" }, data.domains[data.domain[s]]) : null,
        make("span", { class: "measures" },
          output >= 0 ? [measured(state.score), measured(state.against)] : null,
          gap === undefined || Number.isNaN(gap) ? null : gapMeter(gap))),
      line);
  };

  const detail = makeDetail(byId("detail"), data, state, {
    wide,
    onStep: (by) => list.step(by),
    onClose: () => close(),
    announce,
  });

  let loaded = false; // until then the address is the reader's
  const remember = () => {
    if (!loaded) return;
    try {
      history.replaceState(null, "", toAddress(detail.segment()));
    } catch {
      // a page without an address of its own, such as a preview, has nothing to remember
    }
  };

  let reading = Promise.resolve();
  const read = (row) => {
    reading = detail.show(segmentOf(row), outputOf(row));
    remember();
    return reading;
  };

  const open = async (row) => {
    panes.classList.add("open");
    await read(row);
    detail.focus();
    if (!wide.matches) panes.scrollIntoView();
  };

  const close = () => {
    panes.classList.remove("open");
    list.focus();
  };

  const list = makeList(byId("list"), {
    fill: fillRow,
    describe: (n) => `${grouped(n)} ${state.rows}`,
    onMove: async (row, at) => {
      if (!wide.matches && !panes.classList.contains("open")) return;
      await read(row);
      if (document.activeElement !== byId("list")) announce(`${at + 1} of ${grouped(list.position().of)}`);
    },
    onOpen: open,
  });

  let turn = 0;
  let order = "";
  const update = async () => {
    const mine = ++turn;
    const current = () => mine === turn;
    readFilters(state);
    byId("f-system").closest("label").hidden = data.systems.length < 2;
    if (state.search !== "") report("Searching …");
    await breathe();
    const rows = await findRows(data, state, current);
    if (!current()) return;
    disagreement = disagreementOf(data, state);
    const chosen = detail.segment();
    const inOrder = [state.rows, state.sort, byId("f-score").value, byId("f-against").value].join();
    const fresh = inOrder !== order; // a new order shows its top
    order = inOrder;
    list.set(rows);
    const total = state.rows === "outputs" ? data.outputs : data.segments;
    const found = rows.length === total ? grouped(total) : `${grouped(rows.length)} of ${grouped(total)}`;
    report(`${found} ${state.rows}`);
    if (rows.length === 0) detail.clear();
    else if (!fresh && chosen >= 0 && state.rows === "segments" && list.go(chosen, true)) detail.redraw();
    else {
      list.go(rows[0], true);
      if (wide.matches || panes.classList.contains("open")) await read(rows[0]);
    }
    remember();
  };

  const form = byId("filters");
  let typing = 0;
  form.addEventListener("input", (event) => {
    clearTimeout(typing);
    typing = setTimeout(update, event.target.id === "f-search" ? 200 : 0);
  });
  form.addEventListener("reset", () => setTimeout(update));
  form.addEventListener("submit", (event) => { event.preventDefault(); update(); });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typingHere = event.target.closest("input[type=search], select, textarea");
    if (event.key === "Escape" && event.target.closest("#detail")) {
      close();
    } else if (!typingHere && (event.key === "j" || event.key === "k")) {
      list.step(event.key === "j" ? 1 : -1);
      event.preventDefault();
    } else if (!typingHere && event.key === "/") {
      byId("f-search").focus();
      event.preventDefault();
    }
  });

  const asked = fromAddress(location.hash);
  await update();
  if (asked !== null) {
    const row = state.rows === "segments" ? asked : list.rows().find((o) => data.segmentOf[o] === asked) ?? -1;
    const found = list.go(row, true);
    if (found) await open(row);
    (found && !wide.matches ? panes : byId("segments")).scrollIntoView({ behavior: "instant" });
  }
  loaded = true;
  document.documentElement.dataset.ready = String(Math.round(performance.now() - started));
};

const setUpPrint = () => {
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("main .column details:not([open], figure details, .aside)")];
    for (const d of closed) d.open = true;
  });
  addEventListener("afterprint", () => {
    for (const d of closed) d.open = false;
  });
};

setUpTables();
setUpPrint();
if (byId("segments")) {
  setUpExplorer().catch((error) => {
    byId("status").textContent = typeof DecompressionStream === "undefined"
      ? "This browser is too old to unpack the segments: it has no DecompressionStream."
      : "The segments cannot be read: " + error.message;
    console.error(error);
  });
}
