// Tables that are sorted and filtered where they stand.

import { withParameters } from "./address.js";
import { all, headingsOf, make, rowsOf, textOf, within } from "./dom.js";
import { compare, fits, orderOf } from "./order.js";

const SORTED_FROM = 3;
const FILTERED_FROM = 8;

/** Sorts by a column, which says so as `aria-sort`. */
function sortBy(table, heading, isDescending) {
  const column = heading.cellIndex;
  const ordered = rowsOf(table).map((row) => {
    const cell = row.cells[column];
    return { row, order: orderOf(textOf(cell), cell.dataset.value) };
  });
  ordered.sort((left, right) => compare(left.order, right.order, isDescending));
  for (const each of headingsOf(table)) {
    if (each.hasAttribute("aria-sort")) each.setAttribute("aria-sort", "none");
  }
  heading.setAttribute("aria-sort", isDescending ? "descending" : "ascending");
  table.tBodies[0].append(...ordered.map(({ row }) => row));
}

function addSorting(table, heading) {
  const sort = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    sortBy(table, heading, heading.getAttribute("aria-sort") === "ascending");
    keepInAddress(table);
  };
  const link = heading.querySelector("a");
  const made = link ?? make("button", { type: "button", class: "sort" }, ...heading.childNodes);
  made.addEventListener("click", sort);
  if (!link) heading.replaceChildren(made);
}

/** The parameters of a table: "filter" and "by"; of the second one of the page "filter2" and "by2". */
function parametersOf(table) {
  const place = all("main table").indexOf(table) + 1;
  return ["filter", "by"].map((word) => (place > 1 ? word + place : word));
}

/** Writes into the address how a table is sorted and filtered; some columns the service sorts by. */
function keepInAddress(table) {
  const { column, isDescending, filter } = stateOf(table);
  const [filters, by] = parametersOf(table);
  const link = sortedHeading(table)?.querySelector("a");
  const sign = isDescending ? "-" : "";
  const values = { [filters]: filter || null, [by]: link || !column ? null : sign + column };
  if (link) values.sort = sign + (/[?&]sort=-?([^&]*)/.exec(link.href)?.[1] ?? "");
  history.replaceState(history.state, "", withParameters(location.href, values));
}

/** Sorts and filters the tables of the page as its address says. */
export function restoreFromAddress() {
  const given = new URL(location.href).searchParams;
  for (const table of all("main table")) {
    const [filter, column] = parametersOf(table).map((name) => given.get(name) ?? "");
    restore(table, [
      { column: column.replace(/^-/, ""), isDescending: column.startsWith("-"), filter }]);
  }
}

/** Shows the rows that have all words of the field; returns "3 of 84". */
function filterBy(table, asked) {
  let shown = 0;
  const rows = rowsOf(table);
  for (const row of rows) {
    row.hidden = !fits(textOf(row), asked);
    if (!row.hidden) ++shown;
  }
  return asked.trim() === "" ? "" : `${shown} of ${rows.length}`;
}

function addFilter(table) {
  const field = make("input", { type: "search", "data-filter": "", autocomplete: "off" });
  const count = make("span", { role: "status" });
  const filter = () => {
    count.textContent = filterBy(table, field.value);
    keepInAddress(table);
  };
  field.addEventListener("input", filter);
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    if (event.key === "Escape") field.value = "";
    filter();
    field.blur();
    event.preventDefault();
  });
  const label = make("label", { class: "filter" }, "Filter ", field, " ", count);
  const wrapper = make("div", { class: "filtered" });
  table.replaceWith(wrapper);
  wrapper.append(label, table);
}

/** Makes the tables of a part sortable, and those of many rows filtered. */
export function enhanceTables(part) {
  for (const table of within(part, "table")) {
    const count = table.tBodies.length === 1 ? rowsOf(table).length : 0;
    if (count < SORTED_FROM || table.classList.contains("ready")) continue;
    table.classList.add("ready");
    for (const heading of headingsOf(table)) addSorting(table, heading);
    if (count >= FILTERED_FROM) addFilter(table);
  }
}

function fieldOf(table) {
  return table.parentElement?.querySelector(":scope > .filter input") ?? null;
}

function sortedHeading(table) {
  return table.querySelector('th[aria-sort]:not([aria-sort="none"])');
}

function stateOf(table) {
  const sorted = sortedHeading(table);
  return {
    column: textOf(sorted),
    isDescending: sorted?.getAttribute("aria-sort") === "descending",
    filter: fieldOf(table)?.value ?? "",
  };
}

/** How the tables of a part are sorted and filtered. */
export function statesOf(part) {
  return within(part, "table").map(stateOf);
}

/** Sorts and filters again what came anew. */
export function restore(part, states) {
  within(part, "table").forEach((table, index) => {
    const state = states[index];
    if (!state || !table.classList.contains("ready")) return;
    const heading = headingsOf(table).find((one) => textOf(one) === state.column);
    if (heading) sortBy(table, heading, state.isDescending);
    const field = fieldOf(table);
    if (!field || state.filter === "") return;
    field.value = state.filter;
    field.dispatchEvent(new Event("input"));
  });
}

/** Puts the cursor into the filter that stands nearest; false: there is none. */
export function focusFilter() {
  const fields = all("main [data-filter]").filter((each) => each.checkVisibility());
  const near = document.activeElement?.closest("section")?.querySelector("[data-filter]");
  const field = fields.find((each) => each === near) ?? fields[0];
  field?.focus();
  return Boolean(field);
}
