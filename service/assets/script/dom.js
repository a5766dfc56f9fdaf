// What all modules need of a page.

/** The way to the overview, as an absolute address. */
export const root = new URL("../../", import.meta.url);

/** The page's address as it was opened: the script writes zoom and order into it later. */
export const opened = location.href.split("#")[0];

/** Makes an element; nothing in it is read as HTML. Attributes that are null are left out. */
export function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null) made.setAttribute(name, String(value));
  }
  made.append(...children);
  return made;
}

export function button(text, press, attributes = {}) {
  const made = make("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", press);
  return made;
}

/** The elements in a part, or in the page. */
export function all(selector, part = document) {
  return [...part.querySelectorAll(selector)];
}

/** A part if it is what the selector names, else what of that is in it. */
export function within(part, selector) {
  return part.matches(selector) ? [part] : all(selector, part);
}

/** The page that was answered. */
export async function pageOf(answer) {
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

/** Clicks a link; false: there is none. */
export function openLink(link) {
  link?.click();
  return Boolean(link);
}

/** A text with one blank between words. */
export function textOf(node) {
  return (node?.textContent ?? "").replace(/\s+/g, " ").trim();
}

export function rowsOf(table) {
  return [...table.tBodies[0].rows];
}

export function headingsOf(table) {
  return [...(table.tHead?.rows[0]?.cells ?? [])];
}

/** "1 row", "3 rows". */
export function counted(count, noun) {
  return `${count} ${noun}${Number(count) === 1 ? "" : "s"}`;
}

/** A browser that keeps nothing remembers for this page alone. */
function stored(work, name) {
  try {
    return work(localStorage, `torchwatch.${name}`);
  } catch {
    return null;
  }
}

/** What this browser remembers; null: nothing. */
export function remembered(name) {
  return stored((store, key) => store.getItem(key), name);
}

/** null: forgets it. */
export function remember(name, value) {
  stored((store, key) => (value === null ? store.removeItem(key) : store.setItem(key, value)), name);
}

const said = make("p", { id: "said", role: "status" });

/** Shows a sentence for a while, and has it read aloud. */
export function say(sentence) {
  if (!said.isConnected) document.body.append(said);
  said.textContent = sentence;
  said.classList.remove("fading");
  requestAnimationFrame(() => said.classList.add("fading"));
}

/** The address of a page's other form, by its type; empty where there is none. */
export function twin(type) {
  return document.querySelector(`link[rel="alternate"][type="${type}"]`)?.href ?? "";
}
