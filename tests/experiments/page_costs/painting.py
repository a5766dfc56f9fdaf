"""How long a browser takes to show a nightly, and to draw its heat map again."""

import statistics
import sys
import time
from pathlib import Path
from typing import Any

from served import HOST, Served

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "end_to_end"))
FIRST_PAINT = """() => new Promise(done => {
  const seen = performance.getEntriesByName('first-contentful-paint');
  if (seen.length) return done(seen[0].startTime);
  new PerformanceObserver((list, self) => {
    for (const each of list.getEntriesByName('first-contentful-paint')) {
      self.disconnect();
      done(each.startTime);
    }
  }).observe({type: 'paint', buffered: true});
})"""
# When the page's script has done its work: takes the map, which is in sight, out, puts it back from
# its text, and waits for the frame that shows it: parsing, style, layout and paint.
REDRAW = """() => new Promise(done => {
  const map = document.querySelector('#map svg') ?? document.querySelector('svg#map');
  const around = map.parentNode;
  const text = map.outerHTML;
  const cells = map.querySelectorAll('rect').length;
  around.scrollIntoView();
  requestIdleCallback(() => requestAnimationFrame(() => {
    map.remove();
    requestAnimationFrame(() => requestAnimationFrame(draw));
  }));
  const draw = () => {
    const begun = performance.now();
    around.insertAdjacentHTML('afterbegin', text);
    around.firstElementChild.getBoundingClientRect();
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => done({ms: performance.now() - begun, cells});
      channel.port2.postMessage(0);
    });
  };
})"""


def require_browser() -> None:
    """Ends the program where there is none."""
    import browser

    if reason := browser.missing():
        sys.exit(f"page_costs.py: {reason}")


def of(values: list[float]) -> dict[str, float]:
    return {"median_ms": statistics.median(values), "max_ms": max(values), "times": len(values)}


def measure(served: Served, night: str, times: int) -> dict[str, Any]:
    """night: the path of a comparison's page."""
    import browser

    paints, redraws, cells = [], [], 0
    with browser.started() as chromium:
        for turn in range(times + 1):
            context = chromium.new_context(viewport={"width": 1280, "height": 900})
            page = context.new_page()
            answer = page.goto(f"http://{HOST}:{served.port}{night}", wait_until="load")
            if answer.status == 429:  # whoever asks without a token may ask a little later again
                time.sleep(float(answer.headers["retry-after"]))
                answer = page.reload(wait_until="load")
            if answer.status != 200:
                raise RuntimeError(f"{night}: status {answer.status}: {answer.text()[:300]}")
            paint = float(page.evaluate(FIRST_PAINT))
            drawn = page.evaluate(REDRAW)
            cells = int(drawn["cells"])
            context.close()
            if turn == 0:
                continue  # Chromium has just begun
            paints.append(paint)
            redraws.append(float(drawn["ms"]))
    return {"first_paint": of(paints), "redraw": of(redraws), "cells": cells}
