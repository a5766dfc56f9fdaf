// Rows of tables by keys: walked, opened, chosen, compared.

import { comparisonOf } from "./address.js";
import { make, root, say, textOf } from "./dom.js";

let last = null;

function all(selector) {
  return [...document.querySelectorAll(selector)];
}

/** The rows that can be seen, of all tables. @returns {HTMLTableRowElement[]} */
function rowsOnPage() {
  return all("main tbody tr").filter((row) => row.checkVisibility());
}

/** The row with the focus; else the one that had it last. */
function currentRow() {
  const row = document.activeElement?.closest("main tbody tr") ?? last;
  return row instanceof HTMLTableRowElement && row.isConnected ? row : null;
}

/** Moves to the next row, or the one before. @param {1 | -1} step @returns {boolean} */
export function walk(step) {
  const rows = rowsOnPage();
  if (rows.length === 0) return false;
  const current = currentRow();
  const at = current ? rows.indexOf(current) : -1;
  const row = rows[Math.min(Math.max(at + step, 0), rows.length - 1)];
  row.tabIndex = -1;
  row.focus();
  row.scrollIntoView({ block: "nearest" });
  last = row;
  return true;
}

function follow(link) {
  link?.click();
  return Boolean(link);
}

/** Opens what a row leads to. @param {Event} event @returns {boolean} */
export function open(event) {
  const row = event.target;
  return row instanceof HTMLTableRowElement && follow(row.querySelector("a[href]"));
}

/** The rows that are chosen. @returns {HTMLTableRowElement[]} */
export function chosenRows() {
  return all("main tr[data-chosen]");
}

/** Chooses the current row, or no longer. @returns {boolean} */
export function choose() {
  const row = currentRow();
  if (!row) return false;
  const mark = make("span", { class: "chosen" }, "✓ ");
  if (row.toggleAttribute("data-chosen")) row.cells[0].prepend(mark);
  else row.querySelector(".chosen")?.remove();
  const count = chosenRows().length;
  say(count === 0 ? "No row is chosen."
    : `${count} chosen: c compares two, m copies them as Markdown.`);
  return true;
}

/** The build that a row is about: of a comparison its candidate. The older one has the smaller id. */
function buildOf(row) {
  for (const link of [...row.querySelectorAll("a")].reverse()) {
    const found = /\/(builds|comparisons)\/(\d+)$/.exec(new URL(link.href).pathname);
    const text = textOf(link);
    if (!found || text === found[2]) continue;
    const name = found[1] === "builds" ? text : text.split(" against ")[0];
    return { id: Number(found[2]), name };
  }
  return null;
}

/** Goes to the comparison of the two chosen rows. @returns {boolean} */
export function compareChosen() {
  const builds = chosenRows().map(buildOf).filter((each) => each !== null);
  if (builds.length !== 2) {
    say("Choose two rows with builds first: x chooses a row.");
    return true;
  }
  const [older, newer] = builds.sort((left, right) => left.id - right.id);
  location.href = comparisonOf(root, older.name, newer.name);
  return true;
}

/** Follows the link to what comes before or after the page. @param {"prev" | "next"} relation */
export function step(relation) {
  return follow(document.querySelector(`main a[rel="${relation}"]`));
}
