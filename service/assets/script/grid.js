// A heat map's cells as a grid: one place to come to by Tab, arrows inside.

import { all, textOf, within } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";

function group(role, label) {
  const made = document.createElementNS(SVG, "g");
  made.setAttribute("role", role);
  if (label) made.setAttribute("aria-label", label);
  return made;
}

/** What of a cell gets the focus, its link or itself, with its place among the stops of Tab. */
function target(cell, place) {
  const stop = cell.querySelector("a") ?? cell;
  stop.setAttribute("tabindex", place);
  return stop;
}

/** Puts a mark of the drawing into a cell of the grid. */
function cellOf(mark, role) {
  const label = textOf(mark.querySelector("title")) || textOf(mark);
  const cell = group(role, label);
  cell.append(mark);
  target(cell, -1);
  return cell;
}

function enhance(drawing) {
  const rows = new Map();
  for (const box of all("rect.cell", drawing)) {
    const mark = box.parentElement;
    const key = box.getAttribute("y") ?? "";
    if (mark) rows.set(key, [...(rows.get(key) ?? []), mark]);
  }
  if (rows.size === 0) return;
  const grid = group("grid", textOf(drawing.querySelector("title")));
  for (const marks of rows.values()) {
    const row = group("row", null);
    const name = marks[0].previousElementSibling;
    if (name?.querySelector("text")) row.append(cellOf(name, "rowheader"));
    row.append(...marks.map((mark) => cellOf(mark, "gridcell")));
    grid.append(row);
  }
  // Below the numbers, which lie on the cells.
  drawing.insertBefore(grid, drawing.querySelector(":scope > text[aria-hidden]"));
  const first = grid.querySelector('[role="gridcell"]');
  if (first) target(first, 0);
  drawing.closest(".picture")?.removeAttribute("tabindex");
}

/** Makes grids of the heat maps of a part. */
export function enhanceMaps(part) {
  for (const drawing of within(part, "#map").flatMap((map) => all("figure svg.drawing", map))) {
    if (!drawing.querySelector('[role="grid"]')) enhance(drawing);
  }
}

/** Moves within the grid. */
export function moveCell(across, down) {
  const cell = document.activeElement?.closest('[role="gridcell"], [role="rowheader"]');
  const row = cell?.closest('[role="row"]');
  const rows = [...(row?.closest('[role="grid"]')?.children ?? [])];
  if (!cell || !row || rows.length === 0) return false;
  const column = [...row.children].indexOf(cell) + across;
  const other = rows[rows.indexOf(row) + down];
  const next = other?.children[Math.min(column, other.children.length - 1)];
  if (!next || column < 0 || column >= row.children.length) return true;  // the edge
  target(cell, -1);
  target(next, 0).focus();
  return true;
}
