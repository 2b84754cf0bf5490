// A list of any number of rows, of which only those in view are in the page.

const makeList = (box, { fill, describe, onMove, onOpen }) => {
  const spacer = make("div", { role: "presentation", class: "spacer" });
  box.replaceChildren(spacer);
  let rows = [];
  let cursor = -1;
  let drawn = new Map();
  const rowHeight = () => 4.25 * parseFloat(getComputedStyle(document.documentElement).fontSize);

  const draw = () => {
    const height = rowHeight();
    const first = Math.max(0, Math.floor(box.scrollTop / height) - 4);
    const last = Math.min(rows.length, Math.ceil((box.scrollTop + box.clientHeight) / height) + 4);
    const kept = new Map();
    for (let i = first; i < last; i++) {
      let row = drawn.get(i);
      if (!row) {
        row = make("div", {
          role: "option", id: "row-" + i, class: "row",
          "aria-setsize": String(rows.length), "aria-posinset": String(i + 1),
        });
        row.style.transform = `translateY(${i * height}px)`;
        row.addEventListener("click", () => { move(i); onOpen(rows[i], i); });
        fill(row, rows[i]);
        spacer.append(row);
      }
      row.setAttribute("aria-selected", String(i === cursor));
      kept.set(i, row);
    }
    for (const [i, row] of drawn) if (!kept.has(i)) row.remove();
    drawn = kept;
    if (cursor >= first && cursor < last) box.setAttribute("aria-activedescendant", "row-" + cursor);
    else box.removeAttribute("aria-activedescendant");
  };

  let asked = false;
  const drawSoon = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; draw(); });
  };

  const reveal = () => {
    const height = rowHeight();
    const top = cursor * height;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight;
  };

  const move = (to, quiet) => {
    if (rows.length === 0) return;
    cursor = Math.min(rows.length - 1, Math.max(0, to));
    reveal();
    draw();
    if (!quiet) onMove(rows[cursor], cursor);
  };

  box.addEventListener("scroll", drawSoon, { passive: true });
  new ResizeObserver(drawSoon).observe(box);
  box.addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor(box.clientHeight / rowHeight()) - 1);
    const to = { ArrowDown: cursor + 1, ArrowUp: cursor - 1, PageDown: cursor + page, PageUp: cursor - page, Home: 0, End: rows.length - 1 }[event.key];
    if (to !== undefined && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      move(to);
    } else if (event.key === "Enter" && cursor >= 0) {
      event.preventDefault();
      onOpen(rows[cursor], cursor);
    }
  });

  return {
    set: (next) => {
      rows = next;
      cursor = -1;
      spacer.replaceChildren();
      drawn = new Map();
      spacer.style.height = rows.length * rowHeight() + "px";
      box.scrollTop = 0;
      box.setAttribute("aria-label", describe(rows.length));
      draw();
    },
    step: (by) => move(cursor + by),
    go: (row, quiet) => {
      const at = rows.indexOf(row);
      if (at >= 0) move(at, quiet);
      return at >= 0;
    },
    rows: () => rows,
    position: () => ({ at: cursor, of: rows.length }),
    focus: () => box.focus({ preventScroll: true }),
  };
};
