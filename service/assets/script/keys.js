// All keys of all pages: one registry, which also makes the list that people see.

import { button, make, remember, remembered } from "./dom.js";

/**
 * Each has a key as KeyboardEvent has it ("j", "ArrowLeft", "Ctrl+k"), what it does, and what does
 * it: false says that there was nothing to do, null that the browser does it by itself.
 */
const commands = [];
const FIELD = "input, textarea, select, [contenteditable]";
const NAMES = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", "Ctrl+k": "Ctrl+K" };

/** `where` is the element that must have the focus, as a selector; `place` the same in words. */
export function register(more, where = "", place = "") {
  commands.push(...more.map(([key, what, run]) => ({ key, what, run, where, place })));
}

/** Letters and signs can be turned off: whoever speaks to a computer triggers them by accident. */
export function areSinglesOn() {
  return remembered("keys") !== "off";
}

function press(event) {
  if (event.defaultPrevented || event.altKey || event.isComposing) return;
  const target = event.target instanceof Element ? event.target : document.body;
  if (target.closest("dialog")) return;
  const isWithControl = event.ctrlKey || event.metaKey;
  if (!isWithControl && target.closest(FIELD)) return;
  const name = isWithControl ? `Ctrl+${event.key.toLowerCase()}` : event.key;
  if (name.length === 1 && !areSinglesOn()) return;
  for (const { key, where, run } of commands) {
    if (key !== name || !run || (where && !target.closest(where))) continue;
    if (run(event) === false) continue;
    event.preventDefault();
    return;
  }
}

function listOfKeys() {
  return make("dl", { class: "keys" }, ...commands.map(({ key, what, place }) =>
    make("div", {}, make("dt", {}, make("kbd", {}, NAMES[key] ?? key)),
      make("dd", {}, place ? `${what} (${place})` : what))));
}

/** Shows the keys, and the switch that turns letters and signs off. */
export function showKeys() {
  const box = make("input", { type: "checkbox", id: "singles" });
  box.checked = areSinglesOn();
  box.addEventListener("change", () => remember("keys", box.checked ? null : "off"));
  const dialog = make("dialog", { "aria-labelledby": "keys-title" },
    make("h2", { id: "keys-title" }, "Keys"), listOfKeys(),
    make("p", {}, box, make("label", { for: "singles" }, "Single letters and signs work as keys")),
    button("Close", () => dialog.close()));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

export function listen() {
  document.addEventListener("keydown", press);
}
