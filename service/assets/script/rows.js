// Rows of tables by keys: walked, opened, chosen, compared.

import { comparisonOf } from "./address.js";
import { all, make, openLink, root, say, textOf } from "./dom.js";

let last = null;

/** The row with the focus; else the one that had it last. */
function currentRow() {
  const row = document.activeElement?.closest("main tbody tr") ?? last;
  return row?.isConnected ? row : null;
}

/** Moves to the next row (1), or the one before (-1); false: there is none. */
export function walk(step) {
  const rows = all("main tbody tr").filter((each) => each.checkVisibility());
  if (rows.length === 0) return false;
  const at = rows.indexOf(currentRow()) + step;
  const row = rows[Math.min(Math.max(at, 0), rows.length - 1)];
  row.tabIndex = -1;
  row.focus();
  row.scrollIntoView({ block: "nearest" });
  last = row;
  return true;
}

/** Opens what a row leads to. */
export function open({ target }) {
  return target instanceof HTMLTableRowElement && openLink(target.querySelector("a[href]"));
}

export function chosenRows() {
  return all("main tr[data-chosen]");
}

/** Chooses the current row, or no longer. */
export function choose() {
  const row = currentRow();
  if (!row) return false;
  const isChosen = row.toggleAttribute("data-chosen");
  if (isChosen) row.cells[0].prepend(make("span", { class: "chosen" }, "✓ "));
  else row.querySelector(".chosen")?.remove();
  const count = chosenRows().length;
  say(count === 0 ? "No row is chosen."
    : `${count} chosen: c compares two, m copies them as Markdown.`);
  return true;
}

/** The build that a row is about: of a comparison its candidate. The older one has the smaller id. */
function buildOf(row) {
  for (const link of all("a", row).reverse()) {
    const found = /\/(builds|comparisons)\/(\d+)$/.exec(new URL(link.href).pathname);
    const text = textOf(link);
    if (!found || text === found[2]) continue;
    const name = found[1] === "builds" ? text : text.split(" against ")[0];
    return { id: Number(found[2]), name };
  }
  return null;
}

/** Goes to the comparison of the two chosen rows. */
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

/** Follows the link to what comes before ("prev") or after the page ("next"). */
export function step(relation) {
  return openLink(document.querySelector(`main a[rel="${relation}"]`));
}
