// Shows a text with marks: matched n-grams, judges' errors, what was searched
// for, and characters that would not be seen.

const hiddenNames = new Map([
  [0x200b, "zero width space"], [0x2028, "line separator"], [0x2029, "paragraph separator"],
  [0x202a, "left-to-right embedding"], [0x202b, "right-to-left embedding"], [0x202c, "pop directional formatting"],
  [0x202d, "left-to-right override"], [0x202e, "right-to-left override"], [0x2060, "word joiner"],
  [0x2066, "left-to-right isolate"], [0x2067, "right-to-left isolate"], [0x2068, "first strong isolate"],
  [0x2069, "pop directional isolate"], [0xfeff, "byte order mark"],
]);
const hiddenPattern = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** Appends text, with a label in place of each character that is not seen. */
const appendText = (parent, text) => {
  let from = 0;
  for (const match of text.matchAll(hiddenPattern)) {
    if (match.index > from) parent.append(text.slice(from, match.index));
    const code = match[0].codePointAt(0);
    const name = "U+" + code.toString(16).toUpperCase().padStart(4, "0");
    parent.append(make("span", { class: "hidden-character", title: hiddenNames.get(code) ?? "a character that is not seen" }, name));
    from = match.index + match[0].length;
  }
  if (from < text.length) parent.append(text.slice(from));
};

/** Turns sorted rune offsets into offsets of a JavaScript string, in one walk. */
const unitOffsets = (text, runes) => {
  const units = new Map();
  let unit = 0;
  let rune = 0;
  for (const wanted of runes) {
    while (rune < wanted && unit < text.length) {
      unit += text.codePointAt(unit) > 0xffff ? 2 : 1;
      rune++;
    }
    units.set(wanted, unit);
  }
  return units;
};

const inUnits = (text, marks) => {
  const offsets = [...new Set(marks.flatMap((m) => [m.start, m.end]))].sort((a, b) => a - b);
  const units = unitOffsets(text, offsets);
  return marks.map((m) => ({ ...m, start: units.get(m.start), end: units.get(m.end) }));
};

/** Appends a text that marks cover, which may overlap. Offsets are in units. */
const appendMarked = (parent, text, marks) => {
  const events = [];
  for (const mark of marks) {
    if (mark.end <= mark.start) continue;
    events.push([mark.start, 1, mark], [mark.end, 0, mark]);
  }
  events.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const open = new Set();
  let from = 0;
  const flush = (to) => {
    if (to <= from) return;
    let target = parent;
    if (open.size > 0) {
      target = make("mark", { class: [...open].map((m) => m.class).join(" ") });
      parent.append(target);
    }
    appendText(target, text.slice(from, to));
    from = to;
  };
  for (const [at, opens, mark] of events) {
    flush(at);
    if (opens) open.add(mark);
    else {
      open.delete(mark);
      if (mark.after) parent.append(mark.after());
    }
  }
  flush(text.length);
};

const words = new Intl.Segmenter("en", { granularity: "word" });

const tokensOf = (text) => {
  const out = [];
  for (const part of words.segment(text)) {
    if (part.isWordLike) out.push({ start: part.index, end: part.index + part.segment.length, text: part.segment.toLowerCase() });
  }
  return out;
};

const longestGram = 4;

const gramsOf = (tokens, n) => {
  const grams = [];
  for (let i = 0; i + n <= tokens.length; i++) grams.push(tokens.slice(i, i + n).map((t) => t.text).join("\u0000"));
  return grams;
};

/** For each token of a the order of the longest n-gram of b that covers it. */
const orders = (a, grams, other) => {
  const out = new Uint8Array(a.length);
  for (let n = 1; n <= longestGram; n++) {
    grams[n].forEach((gram, i) => {
      if (other[n].has(gram)) out.fill(n, i, i + n);
    });
  }
  return out;
};

const marksOfOrders = (tokens, order) => {
  const marks = [];
  for (let i = 0; i < tokens.length; ) {
    let j = i + 1;
    while (j < tokens.length && order[j] === order[i]) j++;
    if (order[i] > 0) marks.push({ start: tokens[i].start, end: tokens[j - 1].end, class: "gram g" + order[i] });
    i = j;
  }
  return marks;
};

/** The words two texts share, as marks of both. */
const sharedWords = (a, b) => {
  const x = tokensOf(a);
  const y = tokensOf(b);
  const all = (tokens) => [[], ...[1, 2, 3, 4].map((n) => gramsOf(tokens, n))];
  const gx = all(x);
  const gy = all(y);
  const sets = (grams) => grams.map((g) => new Set(g));
  return [marksOfOrders(x, orders(x, gx, sets(gy))), marksOfOrders(y, orders(y, gy, sets(gx)))];
};

/** Marks where a text has what was searched for. */
const foundMarks = (text, wanted) => {
  const lower = text.toLowerCase();
  if (wanted === "" || lower.length !== text.length) return [];
  const marks = [];
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, at + wanted.length)) {
    marks.push({ start: at, end: at + wanted.length, class: "found" });
  }
  return marks;
};
