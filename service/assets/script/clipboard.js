// What is copied: a section, chosen rows, or the page.

import { button, counted, make, say, textOf, twin, within } from "./dom.js";
import { blockOf, rowsAsMarkdown } from "./markdown.js";
import { chosenRows } from "./rows.js";

/** Pages without TLS have no clipboard of their own. */
function copyBySelection(text) {
  const field = make("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  const isDone = document.execCommand("copy");
  field.remove();
  return isDone;
}

async function copy(text, what) {
  try {
    if (navigator.clipboard) await navigator.clipboard.writeText(text);
    else if (!copyBySelection(text)) throw new Error("no clipboard");
    say(`Copied ${what} as Markdown.`);
  } catch {
    say("The browser does not allow copying.");
  }
}

function copySection(section) {
  return copy(blockOf(section), `“${textOf(section.querySelector("h2"))}”`);
}

export async function copyAsMarkdown() {
  const rows = chosenRows();
  if (rows.length > 0) {
    await copy(rowsAsMarkdown(rows), counted(rows.length, "row"));
    return;
  }
  const section = document.activeElement?.closest("main section");
  if (section) {
    await copySection(section);
    return;
  }
  const address = twin("text/markdown");
  if (!address) return;
  const answer = await fetch(address);
  if (answer.ok) await copy(await answer.text(), "the page");
  else say("The page cannot be read now.");
}

export function addCopyButtons(part) {
  for (const section of within(part, "section")) {
    const heading = section.querySelector(":scope > h2");
    if (!heading || section.querySelector(":scope > .copy")) continue;
    const title = textOf(heading);
    heading.after(button("Copy", () => void copySection(section),
      { class: "copy", "aria-label": `Copy ${title} as Markdown` }));
  }
}

/** false: there is no table. */
export function exportTable() {
  const address = twin("text/csv");
  if (!address) return false;
  location.href = address;
  return true;
}
