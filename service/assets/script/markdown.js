// Parts of a page as Markdown, as the page's .md twin has them; with whole addresses, so that they
// can be pasted anywhere.

import { all, headingsOf, rowsOf, textOf } from "./dom.js";

/** Makes text harmless: no markup, no mention of anybody. */
export function prose(text) {
  return text.replace(/[\\`*_[\]>|#~&!<@]/g, (sign) =>
    sign === "<" ? "&lt;" : sign === "@" ? "@\u200b" : `\\${sign}`);
}

/** Backquotes, at least as many, that no backquotes in the text can close. */
function fenceOf(text, least) {
  const runs = (text.match(/`+/g) ?? []).map((run) => run.length + 1);
  return "`".repeat(Math.max(least, ...runs));
}

/** A code span. */
export function code(text) {
  const fence = fenceOf(text, 1);
  const gap = text === "" || text.startsWith("`") || text.endsWith("`") ? " " : "";
  return fence + gap + text + gap + fence;
}

function block(text) {
  const fence = fenceOf(text, 3);
  return `${fence}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}\n\n`;
}

/** What of a page is no content: what the script itself has added. */
const OWN = ".chosen, .copy, .filter, .chart, [hidden]";

/** A line: text, links and code. */
export function inline(node) {
  if (node.nodeType === Node.TEXT_NODE) return prose((node.textContent ?? "").replace(/\s+/g, " "));
  if (!(node instanceof HTMLElement) || node.matches(OWN)) return "";
  if (node.tagName === "CODE") return code(node.textContent ?? "");
  const inner = [...node.childNodes].map(inline).join("");
  return node instanceof HTMLAnchorElement ? `[${inner}](<${node.href}>)` : inner;
}

function lines(table, rows) {
  const heads = headingsOf(table);
  const line = (cells) => `| ${cells.map((cell) => inline(cell).trim()).join(" | ")} |\n`;
  const rule = heads.map((head) => (head.classList.contains("number") ? " --: |" : " :-- |"));
  // A heading that sorts is a link or a button; as text it is its words.
  const head = `| ${heads.map((each) => prose(textOf(each))).join(" | ")} |\n`;
  return `${head}|${rule.join("")}\n${rows.map((row) => line([...row.cells])).join("")}\n`;
}

/** The rows of a table that are shown. */
function tableOf(table) {
  return lines(table, rowsOf(table).filter((row) => !row.hidden));
}

/** Rows of one table or of several, each with its head. */
export function rowsAsMarkdown(rows) {
  const tables = new Set(rows.map((row) => row.closest("table")));
  return [...tables].map((table) =>
    table ? lines(table, rows.filter((row) => row.closest("table") === table)) : "").join("");
}

/** A block with all that is in it. */
export function blockOf(part) {
  if (part.matches(OWN) || part instanceof SVGElement) return "";
  if (part instanceof HTMLTableElement) return tableOf(part);
  switch (part.tagName) {
    case "H2": return `## ${inline(part)}\n\n`;
    case "SUMMARY": return `### ${inline(part)}\n\n`;
    case "P": case "FIGCAPTION": return `${inline(part).trim()}\n\n`;
    case "PRE": return block(part.textContent ?? "");
    case "UL": case "OL":
      return `${[...part.children].map((item) => `- ${inline(item).trim()}\n`).join("")}\n`;
    case "DL":
      return `${[...part.children].map((entry) =>
        `- ${inline(entry.children[0])}: ${inline(entry.children[1])}\n`).join("")}\n`;
    case "FIGURE": return all("figcaption, details table", part).map(blockOf).join("");
    default: return [...part.children].map(blockOf).join("");
  }
}
