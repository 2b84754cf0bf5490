// Shows one answer after the other, and keeps what is decided about it.

const items = JSON.parse(byId("items").textContent);
const served = document.body.dataset.served === "true";
let at = 0;
let editing = false;
let unsaved = false;

const decided = (item) => item.choice !== "";

/** Wilson's interval of a share at 95 %, in whole per cent. */
const wilson = (k, n) => {
  const z = 1.959964;
  const middle = (k + z * z / 2) / (n + z * z);
  const half = (z / (n + z * z)) * Math.sqrt((k * (n - k)) / n + z * z / 4);
  const percent = (x) => Math.round(100 * Math.min(1, Math.max(0, x)));
  return [percent(middle - half), percent(middle + half)];
};

const showState = () => {
  byId("state").textContent = `${items.filter(decided).length} of ${items.length} decided`;
  const drawn = items.filter((item) => item.drawn && decided(item));
  const good = drawn.filter((item) => item.choice === "accept").length;
  const [low, high] = drawn.length > 0 ? wilson(good, drawn.length) : [0, 0];
  byId("estimate").textContent = drawn.length === 0
    ? "Decide the answers drawn at random to estimate how many accepted answers are right."
    : `Right as they are: ${good} of ${drawn.length} drawn at random, ${Math.round((100 * good) / drawn.length)} % [${low}, ${high}]`;
};

const showGroups = () => {
  const groups = new Map();
  items.forEach((item, i) => {
    if (!groups.has(item.group)) groups.set(item.group, { first: i, all: 0, decided: 0 });
    const group = groups.get(item.group);
    group.all++;
    if (decided(item)) group.decided++;
  });
  const options = [...groups].map(([name, g]) => {
    const option = make("option", { value: String(g.first) });
    appendText(option, `${name}: ${g.decided} of ${g.all}`);
    option.selected = items[at]?.group === name;
    return option;
  });
  byId("groups").replaceChildren(...options);
};

/** The words in the longest common subsequence of two lists, as flags for both. */
const common = (a, b) => {
  const inA = new Array(a.length).fill(false);
  const inB = new Array(b.length).fill(false);
  if (a.length * b.length > 4e6) { // too long for a table: the words that both have
    const hasA = new Set(a);
    const hasB = new Set(b);
    return [a.map((w) => hasB.has(w)), b.map((w) => hasA.has(w))];
  }
  const best = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      best[i][j] = a[i] === b[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
    }
  }
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) inA[i++] = inB[j++] = true;
    else if (best[i + 1][j] >= best[i][j + 1]) i++;
    else j++;
  }
  return [inA, inB];
};

/** The words in which two texts differ, as marks of both; stronger where an alarm names the word. */
const differingWords = (a, b, alarms) => {
  const named = new Set(alarms.flatMap((alarm) => tokensOf(alarm.slice(alarm.indexOf(":") + 1)).map((t) => t.text)));
  const texts = [tokensOf(a), tokensOf(b)];
  const shared = common(...texts.map((tokens) => tokens.map((t) => t.text)));
  return texts.map((tokens, k) => tokens.filter((_, i) => !shared[k][i])
    .map((t) => ({ start: t.start, end: t.end, class: named.has(t.text) ? "alarmed" : "differs" })));
};

const field = (name, text, marks, main) => {
  const value = make("dd", { dir: "auto", class: main ? "main" : null });
  appendMarked(value, text, marks);
  return [make("dt", {}, name), value];
};

const show = () => {
  editing = false;
  showState();
  showGroups();
  const card = byId("card");
  const item = items[at];
  for (const id of ["accept", "reject", "edit", "undo", "previous", "next", "open"]) byId(id).disabled = !item;
  if (!item) {
    card.replaceChildren(make("p", {}, "There is nothing to decide."));
    return;
  }
  card.className = item.choice;
  byId("accept").disabled = item.text === "";
  byId("undo").disabled = !decided(item);
  byId("previous").disabled = at === 0;
  byId("next").disabled = at === items.length - 1;
  const text = item.choice === "edit" ? item.edited : item.text;
  const [inReference, inText] = differingWords(item.reference, text, item.alarms ?? []);
  const heading = make("h2", { dir: "auto" });
  appendText(heading, `${at + 1} of ${items.length} · ${item.group}`);
  const list = make("dl", {});
  add(list, [
    item.source === "" ? null : field("Source", item.source, []),
    field("Reference", item.reference, inReference, true),
    field(item.choice === "edit" ? "Your wording" : "Answer", text, inText, true),
    item.raw === "" ? null : field("As it came", item.raw, []),
    field("Verdict", item.verdict + (item.detail === "" ? "" : ": " + item.detail), []),
    item.alarms === null ? null : field("Alarms", item.alarms.join("; "), []),
    field("Segment", `${item.segment} · ${item.prompt} · ${item.model}`, []),
    decided(item) ? field("Decision", item.choice, []) : null,
  ]);
  card.replaceChildren(heading, list);
};

const go = (to) => {
  if (to < 0 || to >= items.length) return;
  at = to;
  show();
  byId("card").focus();
};

/** Goes to the next answer that nobody has decided, from here to the end and round. */
const goOpen = () => {
  for (let i = 1; i <= items.length; i++) {
    const k = (at + i) % items.length;
    if (!decided(items[k])) return go(k);
  }
  byId("said").textContent = served ? "All are decided." : "All are decided. Save the decisions.";
};

const line = (item, choice, text) => ({
  answer: item.answer, segment: item.segment, prompt: item.prompt, decision: choice,
  ...(choice === "edit" ? { text } : {}), ...(item.drawn ? { drawn: true } : {}),
});

const decide = async (choice, text = "") => {
  const item = items[at];
  if (!item || (choice === "accept" && item.text === "") || (choice === "undo" && !decided(item))) return;
  if (served) {
    let problem = "";
    try {
      const answer = await fetch("decision", { method: "POST", body: JSON.stringify(line(item, choice, text)) });
      if (!answer.ok) problem = await answer.text();
    } catch {
      problem = "refract review no longer runs: start it again and open its new address";
    }
    if (problem !== "") {
      byId("said").textContent = "Not kept: " + problem;
      return;
    }
  }
  item.choice = choice === "undo" ? "" : choice;
  item.edited = choice === "edit" ? text : "";
  unsaved = !served;
  byId("said").textContent = `Segment ${item.segment}: ${choice}${served ? ", kept" : ""}`;
  if (choice === "undo" || at === items.length - 1) return show();
  go(at + 1);
};

const edit = () => {
  const item = items[at];
  if (!item || editing) return;
  show();
  editing = true;
  const area = make("textarea", { dir: "auto", "aria-label": "The wording of the reference" });
  area.value = item.choice === "edit" ? item.edited : item.text || item.raw;
  const keep = () => {
    const several = /[\n\r\v\f\u0085\u2028\u2029]/;
    if (several.test(area.value.trim()) && !several.test(item.reference)) {
      byId("said").textContent = "The reference is one line: write the text on one line, without line breaks.";
    } else if (area.value.trim() === "") byId("said").textContent = "An empty text is no reference: reject the answer.";
    else decide("edit", area.value.trim());
  };
  area.addEventListener("keydown", (event) => {
    if (event.key === "Escape") show();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) keep();
    else return;
    event.preventDefault();
  });
  byId("card").append(make("p", {}, area), make("p", { class: "choices" },
    make("button", { type: "button", onclick: keep }, "Keep this wording ", make("kbd", {}, "Ctrl Enter")),
    make("button", { type: "button", onclick: show }, "Cancel ", make("kbd", {}, "Esc"))));
  area.focus();
};

const save = () => {
  const text = items.filter(decided).map((item) => JSON.stringify(line(item, item.choice, item.edited)) + "\n").join("");
  const address = URL.createObjectURL(new Blob([text], { type: "application/x-ndjson" }));
  make("a", { href: address, download: "decisions.jsonl" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
  unsaved = false;
};

const actions = {
  a: () => decide("accept"), r: () => decide("reject"), e: edit, u: () => decide("undo"),
  k: () => go(at - 1), ArrowLeft: () => go(at - 1), j: () => go(at + 1), ArrowRight: () => go(at + 1), n: goOpen,
};
addEventListener("keydown", (event) => {
  const inField = event.target.closest("textarea, select, input");
  const action = actions[event.key];
  if (!action || inField || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  action();
});
for (const [id, key] of [["accept", "a"], ["reject", "r"], ["edit", "e"], ["undo", "u"], ["previous", "k"], ["next", "j"], ["open", "n"]]) {
  byId(id).addEventListener("click", actions[key]);
}
byId("groups").addEventListener("change", (event) => go(Number(event.target.value)));
byId("save")?.addEventListener("click", save);
addEventListener("beforeunload", (event) => { if (unsaved) event.preventDefault(); });
const first = items.findIndex((item) => !decided(item));
at = Math.max(0, first);
show();
