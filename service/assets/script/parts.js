// A page in parts, of which only those are replaced that changed.

import { all } from "./dom.js";

function kindOf(element) {
  const heading = element.matches("section") ? element.querySelector("h2")?.textContent : "";
  return [element.tagName, element.id, element.getAttribute("class"), heading].join(" ");
}

/**
 * What stands in <main>, and the footer: each has a key, the same in both states of the page, and its
 * HTML as the service made it.
 */
export function partsOf(page) {
  const counts = new Map();
  // What a form has done is said once, and stays.
  return all("main > :not([role=status]), footer", page).map((element) => {
    // The count in a heading, "Regressed (4)", may change.
    const kind = kindOf(element).replace(/\(\d+\)/, "");
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return { key: `${kind} ${count}`, html: element.outerHTML, element };
  });
}

/** What stands in the page for a part: the script may have wrapped it. */
function standing(element) {
  let top = element;
  while (top.parentElement && !top.parentElement.matches("main, body")) top = top.parentElement;
  return top;
}

/** Brings the page to its new state, and returns its parts; calls `replaced` for each new one. */
export function patch(before, after, replaced) {
  const known = new Map(before.map((part) => [part.key, part]));
  const main = document.querySelector("main");
  let previous = null;
  const now = after.map((part) => {
    const old = known.get(part.key);
    known.delete(part.key);
    const isSame = old !== undefined && old.html === part.html;
    const element = isSame ? old.element : document.importNode(part.element, true);
    if (!isSame) {
      const gone = old ? standing(old.element) : null;
      if (gone) gone.replaceWith(element);
      else if (previous) standing(previous).after(element);
      else main?.prepend(element);
      replaced({ gone, come: element });
    }
    previous = element.matches("footer") ? previous : element;
    return { ...part, element };
  });
  for (const { element } of known.values()) standing(element).remove();
  return now;
}

const FOCUSABLE = "a[href], button, input, summary, [tabindex]";
const SCROLLED = ".picture, pre";

/** What a reader did to a part: what he opened, and where he is. */
export function traceOf(part) {
  return {
    opened: all("details", part).map((each) => each.open),
    focused: all(FOCUSABLE, part).indexOf(document.activeElement),
    scrolled: all(SCROLLED, part).map((each) => each.scrollLeft),
  };
}

/** Does the same to a new part. */
export function retrace(part, { opened, focused, scrolled }) {
  all("details", part).forEach((each, index) => {
    each.open = opened[index] ?? each.open;
  });
  all(SCROLLED, part).forEach((each, index) => {
    each.scrollLeft = scrolled[index] ?? 0;
  });
  all(FOCUSABLE, part)[focused]?.focus({ preventScroll: true });
}
