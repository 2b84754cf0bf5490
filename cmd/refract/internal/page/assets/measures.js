// Measures are what outputs can be ordered by: human judgements, and scores
// under a setting. Ranks make measures of different units comparable.

/** Ranks from 0 (best), ties at their mean, NaN for what is missing. */
const ranksOf = (values, lower) => {
  const order = [];
  for (let i = 0; i < values.length; i++) if (!Number.isNaN(values[i])) order.push(i);
  order.sort((a, b) => (lower ? values[a] - values[b] : values[b] - values[a]) || a - b);
  const ranks = new Float64Array(values.length).fill(NaN);
  for (let i = 0; i < order.length; ) {
    let j = i + 1;
    while (j < order.length && values[order[j]] === values[order[i]]) j++;
    for (let k = i; k < j; k++) ranks[order[k]] = (i + j - 1) / 2;
    i = j;
  }
  return { ranks, count: order.length };
};

const measuresOf = (data) => [
  ...data.settings.map((m, i) => ({ ...m, values: data.scores[i], decided: data.decided[i] })),
  ...data.humans.map((name, i) => ({ name, lower: false, digits: 0, metric: -1, values: data.human[i], decided: null, human: true })),
];

/** The rank of every output among all, from 0 (best) to 1. */
const standing = (measure) => {
  if (!measure.standing) {
    const { ranks, count } = ranksOf(measure.values, measure.lower);
    measure.standing = ranks.map((r) => r / Math.max(1, count - 1));
  }
  return measure.standing;
};

/** Spearman's footrule over the outputs of each segment, as a share of its maximum. */
const segmentDisagreement = (data, a, b) => {
  const out = new Float64Array(data.segments).fill(NaN);
  for (let s = 0; s < data.segments; s++) {
    const x = [];
    const y = [];
    for (let o = data.outputStart[s]; o < data.outputStart[s + 1]; o++) {
      if (Number.isNaN(a.values[o]) || Number.isNaN(b.values[o])) continue;
      x.push(a.values[o]);
      y.push(b.values[o]);
    }
    if (x.length < 2) continue;
    const p = ranksOf(x, a.lower).ranks;
    const q = ranksOf(y, b.lower).ranks;
    let sum = 0;
    for (let i = 0; i < p.length; i++) sum += Math.abs(p[i] - q[i]);
    out[s] = sum / Math.floor((x.length * x.length) / 2);
  }
  return out;
};

const outputDisagreement = (a, b) => {
  const p = standing(a);
  const q = standing(b);
  return p.map((rank, i) => Math.abs(rank - q[i]));
};

const segmentMeans = (data, measure) => {
  const out = new Float64Array(data.segments).fill(NaN);
  for (let s = 0; s < data.segments; s++) {
    let sum = 0;
    let n = 0;
    for (let o = data.outputStart[s]; o < data.outputStart[s + 1]; o++) {
      if (Number.isNaN(measure.values[o])) continue;
      sum += measure.values[o];
      n++;
    }
    if (n > 0) out[s] = sum / n;
  }
  return out;
};
