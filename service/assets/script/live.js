// The page follows the service: what changed is fetched again and replaced where it stands.

import { button, make, opened, pageOf, remember, remembered, root, say } from "./dom.js";
import { Following } from "./leader.js";
import { partsOf, patch } from "./parts.js";

const BETWEEN_MS = 1_000;  // fetches of a page
const ANYWAY_MS = 60_000;  // ages and counts grow without an event; on the overview, what is done
const TOLD = { comparison: ["judged", "reported", "refused", "failed"], incident: ["open", "closed"] };

/** Whether an event can change a page; its path is as from the overview, "comparisons/12". */
export function concerns(path, { kind, item }) {
  if (kind === "reset") return true;
  const [list, id] = path.split("/");
  if (["help", "search", "compare"].includes(list)) return false;
  const isItem = /^\d+$/.test(id ?? "");
  return !isItem || list !== `${kind}s` || id === item;
}

/** The page, which is fetched again whenever something on it may have changed. */
export class Page {
  constructor(replaced) {
    this.replaced = replaced;
    this.parts = partsOf(document);
    this.tag = "";
    this.isFetching = false;
    this.isStale = false;
    this.begun = 0;
    this.timer = 0;
    this.reading = new AbortController();
  }

  /** Fetches it soon; many calls are one. */
  refresh() {
    if (this.isFetching) {
      this.isStale = true;
      return;
    }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.fetch(), Math.max(0, this.begun + BETWEEN_MS - Date.now()));
  }

  /** Stays as it is, also where it is being fetched. */
  stop() {
    clearTimeout(this.timer);
    this.isStale = false;
    this.reading.abort();
  }

  async fetch() {
    this.isFetching = true;
    this.isStale = false;
    this.begun = Date.now();
    this.reading = new AbortController();
    try {
      await this.bring(this.reading.signal);
    } catch {
      // The page was stopped; or the service cannot be reached, and the stream says so.
    }
    this.isFetching = false;
    if (this.isStale) this.refresh();
  }

  async bring(signal) {
    // "live": whoever reads along is not told what a form has done.
    const headers = { "If-None-Match": `"live", ${this.tag}` };
    const answer = await fetch(opened, { headers, cache: "no-store", signal });
    if (!answer.ok) return;
    const made = await pageOf(answer);
    if (signal.aborted) return;
    this.tag = answer.headers.get("ETag") ?? "";
    document.title = made.title;
    this.parts = patch(this.parts, partsOf(made), this.replaced);
  }
}

function openStream(after) {
  const address = new URL("events", root);
  if (after) address.searchParams.set("after", after);
  return new EventSource(address);
}

/** Follows the events while the tab can be seen and is not paused; returns what says so. */
export function follow(replaced) {
  const page = new Page(replaced);
  const path = location.pathname.slice(root.pathname.length);
  const isPaused = () => remembered("live") === "off";
  const words = make("span", { id: "live" }, "not live");
  const following = new Following({
    name: `torchwatch ${root.href}`,
    open: openStream,
    heard(event) {
      if (concerns(path, { kind: event.kind, item: event.data.item })) page.refresh();
      const told = TOLD[event.kind];
      if (told?.includes(event.data.state)) say(`${event.kind} ${event.data.item}: ${event.data.state}`);
    },
    changed(state) {
      words.textContent = state === "off" ? "paused" : state;
      words.dataset.state = state;
      // Whatever happened before the stream came, or came again, may not be on it.
      if (state === "live") page.refresh();
    },
  });
  const pause = button("Pause", () => {
    remember("live", isPaused() ? null : "off");
    decide(true);
  }, { "aria-pressed": "false" });
  function decide(hasMissed = false) {
    pause.setAttribute("aria-pressed", isPaused());
    if (isPaused() || document.visibilityState === "hidden") {
      following.stop();
      page.stop();
      return;
    }
    following.start();
    if (hasMissed) page.refresh();
  }
  document.addEventListener("visibilitychange", () => decide(true));
  addEventListener("storage", () => decide(true));
  addEventListener("pagehide", () => following.stop());
  addEventListener("pageshow", ({ persisted }) => decide(persisted));
  setInterval(() => {
    if (following.isOn) page.refresh();
  }, path === "" ? ANYWAY_MS / 6 : ANYWAY_MS);
  decide();
  return make("div", { class: "live" }, words, pause);
}
