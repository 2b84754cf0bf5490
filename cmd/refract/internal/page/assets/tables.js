// Tables that are sorted by their headers and, where they are long, filtered.

const collator = new Intl.Collator("en", { numeric: true });

/** The values of a column: a number, a text, or null for what is missing. */
const keyOf = (cell) => {
  if (cell.dataset.key !== undefined) return Number(cell.dataset.key);
  if (cell.classList.contains("number") || cell.classList.contains("missing")) return null;
  return cell.textContent;
};

const compareKeys = (a, b) => {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return collator.compare(String(a), String(b));
};

const sortTable = (table, index, descending) => {
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row, order) => ({ row, order, key: keyOf(row.cells[index]) }));
  rows.sort((a, b) => {
    if (a.key === null || b.key === null) return (a.key === null) - (b.key === null) || a.order - b.order;
    const c = compareKeys(a.key, b.key);
    return (descending ? -c : c) || a.order - b.order;
  });
  body.append(...rows.map((r) => r.row));
};

const makeSortable = (table) => {
  const headers = [...table.tHead.rows[0].cells];
  headers.forEach((header, index) => {
    const label = header.textContent;
    const button = make("button", { type: "button", class: "sort" }, label);
    header.replaceChildren(button);
    button.addEventListener("click", () => {
      const descending = header.getAttribute("aria-sort") === "ascending";
      for (const other of headers) other.removeAttribute("aria-sort");
      header.setAttribute("aria-sort", descending ? "descending" : "ascending");
      sortTable(table, index, descending);
    });
  });
};

const makeFilterable = (table) => {
  const rows = [...table.tBodies[0].rows];
  if (rows.length < 12) return;
  const count = make("span", { role: "status" });
  const input = make("input", { type: "search", autocomplete: "off" });
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    let kept = 0;
    for (const row of rows) {
      row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted);
      kept += row.hidden ? 0 : 1;
    }
    count.textContent = wanted === "" ? "" : `${kept} of ${rows.length} rows`;
  });
  table.closest(".table").querySelector(".tools").prepend(make("label", {}, "Filter rows ", input), count);
};

/** Says which columns are in view where there is no room for all, and goes to the others by buttons. */
const makePannable = (box) => {
  const step = (name, arrow, by) => make("button", { type: "button", "aria-label": name, onclick: () => box.scrollBy({ left: by * 0.8 * box.clientWidth }) }, arrow);
  const buttons = [step("Columns to the left", "←", -1), step("Columns to the right", "→", 1)];
  const hint = make("span", { class: "pan", hidden: true }, "More columns", buttons);
  box.closest(".table").querySelector(".tools").append(hint);
  const look = () => {
    const rest = box.scrollWidth - box.clientWidth - Math.ceil(box.scrollLeft);
    const wide = box.scrollWidth > box.clientWidth + 1;
    hint.hidden = !wide;
    buttons[0].disabled = box.scrollLeft <= 0;
    buttons[1].disabled = rest <= 1;
    box.classList.toggle("more", wide && rest > 1);
    box.tabIndex = wide || box.scrollHeight > box.clientHeight + 1 ? 0 : -1;
  };
  box.addEventListener("scroll", look, { passive: true });
  const seen = new ResizeObserver(look);
  seen.observe(box);
  seen.observe(box.firstElementChild);
};

const setUpTables = () => {
  for (const table of document.querySelectorAll("table.sortable")) {
    makeSortable(table);
    makeFilterable(table);
    makePannable(table.parentElement);
  }
};
