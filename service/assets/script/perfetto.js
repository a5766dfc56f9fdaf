// Hands a trace to Perfetto from window to window: it does not leave the browser.

import { say } from "./dom.js";

async function hand({ href, origin }) {
  const other = open(href); // At once: later than the click it would be blocked.
  const answer = await fetch(`${location.pathname}/trace.json.gz`);
  if (!other || !answer.ok) return say("The trace can only be downloaded.");
  const buffer = await answer.arrayBuffer();
  const asking = setInterval(() => other.postMessage("PING", origin), 100);
  addEventListener("message", ({ source, data }) => {
    if (source !== other || data !== "PONG") return;
    clearInterval(asking);
    other.postMessage({ perfetto: { buffer, title: document.title } }, origin);
  });
}

document.addEventListener("click", (event) => {
  const link = event.target instanceof Element && event.target.closest('a[rel="external"]');
  if (!link) return;
  event.preventDefault();
  void hand(link);
});
