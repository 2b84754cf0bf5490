// One segment: its source, every output with its scores and what judges say,
// and every reference next to the output that is chosen.

const longText = 1500; // characters from which a text scrolls by itself
const comparedText = 50000; // characters up to which texts are compared here

/** A text as a paragraph; null is a missing one. */
const textBlock = (text, marks, label) => {
  if (text === null || text === undefined) return make("p", { class: "text missing" }, "no text");
  if (text === "") return make("p", { class: "text missing" }, "an empty text");
  const long = text.length > longText;
  const block = make("p", {
    class: long ? "text long" : "text", dir: "auto",
    tabindex: long ? "0" : null, role: long ? "region" : null, "aria-label": long ? label : null,
  });
  appendMarked(block, text, marks);
  return block;
};

const severityClass = (severity) => (["critical", "major", "minor"].includes(severity) ? severity : "other");

/** Marks of all errors of an output, numbered as in the lists of its reports. */
const errorMarks = (output) => {
  const marks = [];
  let number = 0;
  for (const report of output.reports ?? []) {
    for (const error of report.errors ?? []) {
      const n = ++number;
      if (error.span[1] <= error.span[0]) continue;
      marks.push({
        start: error.span[0], end: error.span[1], class: "error " + severityClass(error.severity),
        after: () => make("sup", { class: "error-number" }, make("span", { class: "unseen" }, " error "), String(n)),
      });
    }
  }
  return inUnits(output.text ?? "", marks);
};

const reportBlock = (report, first) => {
  const head = make("p", { class: "judge" }, make("b", {}, plainText(report.judge)),
    " ", plainText(report.outcome), report.score === null ? null : `, score ${shown(report.score, 0)}`);
  const list = make("ol", { class: "errors", start: String(first) });
  for (const error of report.errors ?? []) {
    list.append(make("li", {},
      make("span", { class: "severity " + severityClass(error.severity) }, error.severity ? plainText(error.severity) : "no severity"), " ",
      error.type ? make("b", {}, plainText(error.type)) : null,
      error.penalty === null ? null : make("span", { class: "penalty" }, ` −${shown(error.penalty, 0)}`),
      error.location ? [" ", make("q", { dir: "auto" }, plainText(error.location))] : null,
      error.span[1] <= error.span[0] && error.location ? make("i", {}, error.source ? " (in the source)" : " (not found in the output)") : null,
      error.explanation ? make("p", { dir: "auto" }, plainText(error.explanation)) : null));
  }
  const notes = (report.notes ?? []).map((note) => make("li", { dir: "auto" }, plainText(note)));
  return make("div", { class: "report" }, head, list.childElementCount ? list : null,
    notes.length ? make("ul", { class: "warnings", "aria-label": "What to know of this report" }, notes) : null);
};

/** A text whose hidden characters are labelled. */
const plainText = (text) => {
  const span = make("bdi");
  appendText(span, text);
  return span;
};

const makeDetail = (box, data, state, { wide, onStep, onClose, announce }) => {
  let shownSegment = -1;
  let segment = null;
  let chosen = 0; // index of an output of the segment
  const marked = { grams: true, errors: true };

  const promptName = (reference) => {
    const prompt = data.promptOf(shownSegment, reference);
    return prompt === 0 ? "original" : data.prompts[prompt - 1];
  };
  const global = (i) => data.outputStart[shownSegment] + i;
  const decidedBy = (i) => (state.score?.decided?.[global(i)] ?? 0) - 1;

  const matchOf = (i, reference) => {
    const output = segment.outputs[i];
    const text = segment.references[reference]?.text;
    if (!marked.grams || output.text === null || text === null || text === undefined) return { output: [], in: [] };
    if (output.text.length > comparedText || text.length > comparedText) return { output: [], in: [] };
    const [a, b] = sharedWords(output.text, text);
    return { output: a, in: b };
  };

  const ranksWithin = (measure) => {
    if (!measure) return null;
    const start = data.outputStart[shownSegment];
    return ranksOf(measure.values.slice(start, start + segment.outputs.length), measure.lower).ranks;
  };

  const scoreLine = (i, ranks) => [state.score, state.against].map((measure, k) =>
    measure && make("span", { class: "measure" },
      make("span", { class: "unseen" }, measure.name + " "),
      make("b", {}, shown(measure.values[global(i)], measure.digits)),
      Number.isNaN(ranks[k][i]) ? null : make("span", { class: "rank" }, ` #${ranks[k][i] + 1}`)));

  const scoreTable = (i) => make("table", { class: "scores" },
    make("caption", { class: "unseen" }, "All scores of this output"),
    make("thead", {}, make("tr", {}, ["measure", "score", "decided by"].map((h) => make("th", { scope: "col", class: h === "score" ? "number" : null }, h)))),
    make("tbody", {}, state.measures.map((measure) => {
      const by = (measure.decided?.[global(i)] ?? 0) - 1;
      return make("tr", { class: measure === state.score ? "current" : null },
        make("th", { scope: "row" }, make("bdi", {}, measure.name)),
        make("td", { class: "number" }, shown(measure.values[global(i)], measure.digits)),
        make("td", {}, by < 0 ? "–" : make("button", { type: "button", class: "link", onclick: () => toReference(by) }, `${by + 1} · ${promptName(by)}`)));
    })));

  const toReference = (reference) => {
    const item = byId("reference-" + reference);
    item?.scrollIntoView({ block: "nearest" });
    item?.focus({ preventScroll: true });
  };

  const outputItem = (i, ranks) => {
    const output = segment.outputs[i];
    const isChosen = i === chosen;
    const reference = decidedBy(i);
    const marks = [
      ...(isChosen && reference >= 0 ? matchOf(i, reference).output : []),
      ...(marked.errors ? errorMarks(output) : []),
      ...foundMarks(output.text ?? "", state.search),
    ];
    const name = data.systems[data.system[global(i)]];
    let errors = 0;
    const reports = (output.reports ?? []).map((report) => {
      const block = reportBlock(report, errors + 1);
      errors += (report.errors ?? []).length;
      return block;
    });
    return make("li", { class: isChosen ? "output chosen" : "output" },
      make("button", { type: "button", class: "choose", "aria-pressed": String(isChosen), onclick: () => choose(i) },
        make("bdi", { class: "system" }, name),
        errors > 0 ? make("span", { class: "badge bad" }, errors === 1 ? "1 error" : `${errors} errors`) : null,
        make("span", { class: "measures" }, scoreLine(i, ranks))),
      textBlock(output.text, marks, `Text of ${name}`),
      isChosen ? [reports, scoreTable(i)] : null);
  };

  const referenceItem = (r) => {
    const reference = segment.references[r];
    const metric = state.score?.metric ?? -1;
    const cell = segment.outputs[chosen]?.cells?.[metric]?.[r];
    const decides = segment.outputs.length > 0 && decidedBy(chosen) === r;
    const others = state.measures.filter((m) => m !== state.score && segment.outputs.length > 0 && m.decided?.[global(chosen)] === r + 1);
    const match = segment.outputs.length > 0 ? matchOf(chosen, r) : { in: [] };
    return make("li", { class: decides ? "reference decides" : "reference", id: "reference-" + r, tabindex: "-1" },
      make("p", { class: "reference-head" },
        make("span", { class: "number" }, String(r + 1)), " ",
        make("span", { class: data.promptOf(shownSegment, r) === 0 ? "badge original" : "badge" }, promptName(r)),
        reference.detail ? make("span", { class: "quiet" }, plainText(reference.detail)) : null,
        decides ? make("span", { class: "badge good" }, "decides") : null,
        others.length ? make("span", { class: "quiet", title: others.map((m) => m.name).join("\n") }, ` decides ${others.length} other ${others.length === 1 ? "setting" : "settings"}`) : null,
        cell === undefined || cell === null ? null : make("b", { class: "cell" }, shown(cell, data.metrics[metric].digits))),
      textBlock(reference.text, [...match.in, ...foundMarks(reference.text ?? "", state.search)], `Text of reference ${r + 1}`));
  };

  const legend = () => make("p", { class: "legend" },
    toggle("grams", "Matched words"),
    make("span", { class: "key", "aria-hidden": "true" }, [1, 2, 3, 4].map((n) => make("mark", { class: "gram g" + n }, n === 4 ? "4+" : String(n)))),
    segment.outputs.some((o) => (o.reports ?? []).length > 0)
      ? [toggle("errors", "Marked errors"), make("span", { class: "key", "aria-hidden": "true" }, ["minor", "major", "critical"].map((s) => make("mark", { class: "error " + s }, s)))]
      : null);

  const toggle = (what, label) => {
    const input = make("input", { type: "checkbox", onchange: () => { marked[what] = input.checked; draw(); byId("mark-" + what)?.focus(); }, id: "mark-" + what });
    input.checked = marked[what];
    return make("label", { class: "check" }, input, " " + label);
  };

  const choose = (i) => {
    const top = () => box.querySelectorAll(".choose")[place].getBoundingClientRect().top;
    const place = [...box.querySelectorAll(".choose")].indexOf(document.activeElement);
    const before = place < 0 ? 0 : top();
    chosen = i;
    draw();
    box.querySelector(".output.chosen .choose").focus({ preventScroll: true });
    if (place >= 0) { // what was pressed stays where it is, though what stood open above has closed
      const moved = top() - before;
      if (wide.matches) box.scrollTop += moved;
      else scrollBy({ top: moved, behavior: "instant" });
    }
    announce(`References compared with ${data.systems[data.system[global(i)]]}`);
  };

  const draw = () => {
    const outputs = segment.outputs.map((_, i) => i);
    const ranks = [ranksWithin(state.score), ranksWithin(state.against)];
    if (ranks[0]) {
      const last = segment.outputs.length;
      const key = (i) => (Number.isNaN(ranks[0][i]) ? last : ranks[0][i]);
      outputs.sort((a, b) => key(a) - key(b) || a - b);
    }
    const references = segment.references.map((_, r) => r);
    const deciding = segment.outputs.length > 0 ? decidedBy(chosen) : -1;
    references.sort((a, b) => (b === deciding) - (a === deciding) || a - b);
    const domain = data.domains[data.domain[shownSegment]];
    const metric = data.metrics[state.score?.metric ?? -1];
    box.replaceChildren(
      make("header", { class: "detail-head" },
        make("div", {},
          make("h3", { tabindex: "-1", id: "detail-title" }, "Segment ", plainText(segment.id)),
          make("p", { class: "quiet" }, [segment.document && ["document ", plainText(segment.document)], segment.document && domain && " · ", domain && ["domain ", plainText(domain)]])),
        make("div", { class: "buttons" },
          make("button", { type: "button", class: "back", onclick: onClose }, "Back to the list"),
          make("button", { type: "button", onclick: () => onStep(-1), "aria-label": "Previous segment of the list" }, "↑"),
          make("button", { type: "button", onclick: () => onStep(1), "aria-label": "Next segment of the list" }, "↓"))),
      segment.source === null ? "" : make("section", { class: "source" }, make("h4", {}, "Source"),
        textBlock(segment.source, foundMarks(segment.source, state.search), "Source")),
      legend(),
      make("div", { class: "columns" },
        make("section", { "aria-label": "Outputs" },
          make("h4", {}, `Outputs (${segment.outputs.length})`,
            make("span", { class: "quiet measures" }, [state.score, state.against].map((m) => m && make("bdi", {}, m.name)))),
          make("ol", { class: "outputs" }, outputs.map((i) => outputItem(i, ranks)))),
        make("section", { "aria-label": "References", class: "beside", tabindex: "0" },
          make("h4", {}, `References (${segment.references.length})`,
            segment.outputs.length ? make("span", { class: "quiet" }, " compared with ", make("bdi", {}, data.systems[data.system[global(chosen)]])) : null,
            metric ? make("span", { class: "quiet measures" }, make("bdi", {}, metric.name)) : null),
          make("ol", { class: "references" }, references.map((r) => referenceItem(r))))));
  };

  return {
    show: async (s, output) => {
      shownSegment = s;
      const read = data.now(s) ?? (await data.segment(s));
      if (shownSegment !== s) return;
      segment = read;
      if (output >= 0) chosen = output;
      else {
        // the best output, or where disagreement is looked for, the one that is most disputed
        const [p, q] = [ranksWithin(state.score), ranksWithin(state.against)];
        const merit = !p ? [] : Array.from(p, (rank, i) => (state.sort === "disagreement" ? -Math.abs(rank - q[i]) : rank));
        chosen = 0;
        merit.forEach((m, i) => { if (m < merit[chosen] || Number.isNaN(merit[chosen])) chosen = i; });
      }
      const within = box.contains(document.activeElement);
      draw();
      box.scrollTop = 0;
      if (within) byId("detail-title").focus({ preventScroll: true });
      if (output >= 0) box.querySelector(".output.chosen")?.scrollIntoView({ block: "nearest" });
    },
    redraw: () => { if (segment) draw(); },
    clear: () => { segment = null; shownSegment = -1; box.replaceChildren(make("p", { class: "quiet" }, "No segment is chosen.")); },
    focus: () => byId("detail-title")?.focus({ preventScroll: true }),
    segment: () => shownSegment,
  };
};
