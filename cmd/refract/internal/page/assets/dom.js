// Elements are made here only, and text enters by textContent only: nothing of
// a data set is ever read as markup.

const byId = (id) => document.getElementById(id);

/** Makes an element. Children are nodes or strings; null and "" are left out. */
const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false) continue;
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  add(element, children);
  return element;
};

const add = (element, children) => {
  for (const child of children) {
    if (Array.isArray(child)) add(element, child);
    else if (child !== null && child !== undefined && child !== "" && child !== false) element.append(child);
  }
};

/** Shows a number with a number of decimals, and what is missing as a dash. */
const shown = (value, digits) => {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const text = digits > 0 ? value.toFixed(digits) : String(Number(value.toPrecision(6)));
  return text.replace("-", "−");
};

const grouped = (n) => n.toLocaleString("en");

/** Waits until the browser has drawn and taken input. */
const breathe = () => new Promise((done) => setTimeout(done));
