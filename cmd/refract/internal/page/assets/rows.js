// Which rows the list has, and in which order.

/** Every text of a segment that a search looks at. */
const searchable = (data, s, segment, output) => {
  const texts = [segment.id, segment.document ?? "", segment.source ?? ""];
  if (output >= 0) {
    texts.push(segment.outputs[output].text ?? "");
  } else {
    for (const r of segment.references) texts.push(r.text ?? "");
    for (const o of segment.outputs) texts.push(o.text ?? "");
  }
  return texts.join("\n").toLowerCase();
};

/** The values that rows are ordered by, for the kind of rows that is wanted. */
const orderValues = (data, state) => {
  const perOutput = state.rows === "outputs";
  const [what, end] = state.sort.split("-");
  if (what === "disagreement") {
    return { values: disagreementOf(data, state), descending: true };
  }
  const measure = what === "score" ? state.score : state.against;
  return {
    values: perOutput ? measure.values : segmentMeans(data, measure),
    descending: (end === "best") !== Boolean(measure.lower),
  };
};

const disagreementOf = (data, state) => {
  if (!state.score || !state.against) return null;
  return state.rows === "outputs"
    ? outputDisagreement(state.score, state.against)
    : segmentDisagreement(data, state.score, state.against);
};

/** Tells which outputs pass the filters that need no text. */
const passes = (data, state, s, o) => {
  if (state.system >= 0 && data.system[o] !== state.system) return false;
  if (state.errors && !(data.flags[o] & errorFlag)) return false;
  if (state.prompt >= 0) {
    const by = state.score?.decided?.[o] ?? 0;
    if (by === 0 || data.promptOf(s, by - 1) !== state.prompt) return false;
  }
  return true;
};

/** Rows that pass the filters; a row is the index of a segment or an output. */
const findRows = async (data, state, going) => {
  const perOutput = state.rows === "outputs";
  const least = state.least > 0 ? disagreementOf(data, state) : null;
  const rows = [];
  for (let s = 0; s < data.segments; s++) {
    if (state.domain >= 0 && data.domain[s] !== state.domain) continue;
    let any = data.outputStart[s] === data.outputStart[s + 1] && state.system < 0 && !state.errors && state.prompt < 0;
    for (let o = data.outputStart[s]; o < data.outputStart[s + 1] && !(any && !perOutput); o++) {
      if (!passes(data, state, s, o)) continue;
      any = true;
      if (perOutput && (!least || least[o] >= state.least)) rows.push(o);
    }
    if (!perOutput && any && (!least || least[s] >= state.least)) rows.push(s);
  }
  let kept = rows;
  if (state.search !== "") {
    kept = [];
    let next = 0;
    const segmentOf = (row) => (perOutput ? data.segmentOf[row] : row);
    await data.each((s, segment) => {
      for (; next < rows.length && segmentOf(rows[next]) === s; next++) {
        const output = perOutput ? rows[next] - data.outputStart[s] : -1;
        if (searchable(data, s, segment, output).includes(state.search)) kept.push(rows[next]);
      }
    }, going);
  }
  if (state.sort === "order" || !going()) return kept;
  const { values, descending } = orderValues(data, state);
  return kept.sort((a, b) => {
    const missing = Number.isNaN(values[a]) - Number.isNaN(values[b]);
    return missing || (descending ? values[b] - values[a] : values[a] - values[b]) || a - b;
  });
};
