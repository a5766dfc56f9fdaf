// What the pages do beyond links and forms. Without this script they say the same.

import { chart, enhanceHistory, repaint } from "./chart.js";
import { addCopyButtons, copyAsMarkdown, exportTable } from "./clipboard.js";
import { button, make, remember, remembered } from "./dom.js";
import { enhanceMaps, moveCell } from "./grid.js";
import { listen, register, showKeys } from "./keys.js";
import { follow } from "./live.js";
import { retrace, traceOf } from "./parts.js";
import "./perfetto.js";
import { choose, compareChosen, open, step, walk } from "./rows.js";
import { enhanceTables, focusFilter, restore, restoreFromAddress, statesOf } from "./tables.js";

function enhance(part) {
  void enhanceHistory(part);
  enhanceMaps(part);
  enhanceTables(part);
  addCopyButtons(part);
}

/** Gives a part that came anew what the reader did to the old one. */
function replaced({ gone, come }) {
  const trace = gone ? traceOf(gone) : null;
  const states = gone ? statesOf(gone) : [];
  enhance(come);
  const part = come.closest(".filtered") ?? come;
  restore(part, states);
  if (trace) retrace(part, trace);
  part.classList.add("changed");
}

const THEMES = ["auto", "light", "dark"];
const COLOURS = ["orange-blue", "red-green"];

/** A switch of what all pages look like, its default first; the first paint reads it (theme.js). */
function switchOf(title, name, words) {
  const chosen = () => remembered(name) ?? words[0];
  const made = button(`${title}: ${chosen()}`, () => {
    const next = words[(words.indexOf(chosen()) + 1) % words.length];
    remember(name, next === words[0] ? null : next);
    if (next === words[0]) delete document.documentElement.dataset[name];
    else document.documentElement.dataset[name] = next;
    made.textContent = `${title}: ${chosen()}`;
    repaint();
  });
  return made;
}

function into(selector) {
  const field = document.querySelector(selector);
  if (!field) return false;
  field.select();
  field.focus();
  return true;
}

function registerKeys() {
  register([
    ["?", "Show these keys", showKeys],
    ["/", "Search", () => into("#q")],
    ["Ctrl+k", "Search", () => into("#q")],
    ["a", "Decide on the incident: to the reason", () => into("#reason")],
    ["j", "Next row", () => walk(1)],
    ["k", "Row before", () => walk(-1)],
    ["x", "Choose the row, or no longer", choose],
    ["c", "Compare the two chosen rows", compareChosen],
    ["m", "Copy as Markdown: chosen rows, the section, or the page", () => void copyAsMarkdown()],
    ["e", "Download the table as CSV", exportTable],
    ["f", "Filter the table", focusFilter],
    ["[", "Nightly before, or older ones", () => step("prev")],
    ["]", "Nightly after", () => step("next")],
  ]);
  register([["Enter", "Open", open]], "main tbody tr", "on a row");
  register([
    ["ArrowLeft", "Point before", () => chart().move(-1)],
    ["ArrowRight", "Next point", () => chart().move(1)],
    ["Home", "Oldest point", () => chart().go(0)],
    ["End", "Newest point", () => chart().go(Infinity)],
    ["+", "Zoom in", () => chart().zoom(0.5)],
    ["-", "Zoom out", () => chart().zoom(2)],
    ["p", "Pin the point; two pins compare", () => chart().pin()],
  ], ".chart", "in a chart");
  register([
    ["ArrowLeft", "Cell to the left", () => moveCell(-1, 0)],
    ["ArrowRight", "Cell to the right", () => moveCell(1, 0)],
    ["ArrowUp", "Cell above", () => moveCell(0, -1)],
    ["ArrowDown", "Cell below", () => moveCell(0, 1)],
    ["Enter", "Open the series", null],
  ], '[role="grid"]', "in a heat map");
}

// The parts of the page are noted as the service made them, before anything is added to them.
const live = follow(replaced);
const main = document.querySelector("main");
if (main) enhance(main);
restoreFromAddress();
document.querySelector("header")?.append(
  make("div", { class: "tools" }, live, button("Keys", showKeys),
    switchOf("Theme", "theme", THEMES), switchOf("Colours", "colours", COLOURS)));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
registerKeys();
listen();
// All times are UTC; whoever points at one reads it by his own clock.
document.addEventListener("mouseover", ({ target }) => {
  const time = target instanceof Element && target.closest("time");
  if (time) time.title = new Date(time.dateTime).toLocaleString([], { timeZoneName: "short" });
});
