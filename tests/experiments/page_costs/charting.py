"""How long a browser takes with the past of one series over ten years: to show the page's chart and
to zoom in it, and the same for 84 charts on one page."""

import sys
from pathlib import Path
from typing import Any

from painting import of
from served import HOST, Served

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "end_to_end"))
CHARTS = 84
PATIENCE_MS = 60_000
# Runs what draws, and waits for the frame that shows it.
FRAME = """const frame = (work) => new Promise(done => requestAnimationFrame(() => {
  const begun = performance.now();
  work();
  requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => done(performance.now() - begun);
    channel.port2.postMessage(0);
  });
}));"""
POINTS = """document.querySelectorAll(
  '#past figure tbody tr td:nth-child(2)[data-value="point"]').length"""
ZOOM = f"""async () => {{
  {FRAME}
  const [closer, wider] = [...document.querySelectorAll('.chart-box .tools button')];
  const times = [];
  for (let turn = 0; turn < 6; ++turn) {{
    const press = turn % 2 ? wider : closer;
    times.push(await frame(() => press.click()));
  }}
  return times;
}}"""
# As the page's own chart: points with an interval, in a box a third as wide.
MANY = f"""async (count) => {{
  {FRAME}
  const rows = [...document.querySelectorAll('#past figure tbody tr')]
    .filter(row => row.cells[1].dataset.value === 'point');
  const data = rows.map(row => {{
    const value = Number(row.cells[2].dataset.value);
    const ends = (row.cells[3].dataset.value ?? '').split(' ').map(Number);
    const [low, high] = ends.length === 2 ? ends : [value, value];
    return [new Date(row.cells[0].textContent.trim().replace(' ', 'T').slice(0, 10)),
            [low, value, high]];
  }}).sort((left, right) => left[0] - right[0]);
  const box = document.createElement('div');
  document.querySelector('main').replaceChildren(box);
  const places = Array.from({{length: count}}, () => {{
    const place = document.createElement('div');
    place.style.width = '300px';
    place.style.height = '120px';
    place.style.display = 'inline-block';
    box.append(place);
    return place;
  }});
  let charts = [];
  const draw = await frame(() => {{
    charts = places.map(place => new Dygraph(place, data,
      {{labels: ['time', 'value'], customBars: true, legend: 'never'}}));
  }});
  const [first, last] = [data[0][0].getTime(), data[data.length - 1][0].getTime()];
  const zoom = await frame(() => charts.forEach(chart =>
    chart.updateOptions({{dateWindow: [(first + last) / 2, last]}})));
  return {{draw, zoom, points: data.length}};
}}"""


def measure(served: Served, series: str, times: int) -> dict[str, Any]:
    """series: the path of its page."""
    import browser

    shown: list[float] = []
    zoomed: list[float] = []
    many: list[dict[str, float]] = []
    points = 0
    with browser.started() as chromium:
        for _ in range(times):
            context = chromium.new_context(viewport={"width": 1280, "height": 900})
            page = context.new_page()
            page.goto(f"http://{HOST}:{served.port}{series}", wait_until="load")
            page.wait_for_selector(".chart-box canvas", timeout=PATIENCE_MS)
            shown.append(float(page.evaluate("performance.now()")))
            points = int(page.evaluate(POINTS))
            zoomed.extend(page.evaluate(ZOOM))
            many.append(page.evaluate(MANY, CHARTS))
            context.close()
    return {
        "points": points,
        "chart": of(shown),
        "zoom": of(zoomed),
        "charts": CHARTS,
        "all_charts": of([each["draw"] for each in many]),
        "zoom_of_all": of([each["zoom"] for each in many]),
    }
