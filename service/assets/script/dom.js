// What all modules need of a page.

/** The way to the overview, as an absolute address. */
export const root = new URL("../../", import.meta.url);

/** The page's address as it was opened: the script writes zoom and order into it later. */
export const opened = location.href.split("#")[0];

/**
 * Makes an element; nothing in it is read as HTML. Attributes that are null are left out.
 * @param {string} tag
 * @param {Record<string, string | number | null>} attributes
 * @param {...(Node | string)} children
 * @returns {any} an element of that kind
 */
export function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null) made.setAttribute(name, String(value));
  }
  made.append(...children);
  return made;
}

/** @param {string} text @param {() => void} press */
export function button(text, press, attributes = {}) {
  const made = make("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", press);
  return made;
}

/** A text with one blank between words. @param {Node | null} node */
export function textOf(node) {
  return (node?.textContent ?? "").replace(/\s+/g, " ").trim();
}

/** What this browser remembers; null: nothing. @param {string} name @returns {string | null} */
export function remembered(name) {
  try {
    return localStorage.getItem(`torchwatch.${name}`) || null;
  } catch {
    return null;
  }
}

/** @param {string} name @param {string | null} value null: forgets it */
export function remember(name, value) {
  try {
    localStorage.setItem(`torchwatch.${name}`, value ?? "");
  } catch {
    // It holds for this page then.
  }
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
  const link = document.querySelector(`link[rel="alternate"][type="${type}"]`);
  return link instanceof HTMLLinkElement ? link.href : "";
}
