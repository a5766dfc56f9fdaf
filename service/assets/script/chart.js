// A series' past, to zoom and walk through; without dygraphs the service's drawing stays.

import { comparisonOf, DAY, parametersOf, windowOf, withParameters } from "./address.js";
import { hasDygraphs } from "./available.js";
import { button, counted, make, opened, pageOf, root, within } from "./dom.js";
import { drawPoint, drawUnder, paints } from "./paint.js";
import { axisText, byTime, nearest, readPast, refined } from "./twin.js";

let loading;

/** Loads dygraphs once. Its legend writes style attributes, which our pages forbid. */
function dygraphs() {
  loading ??= new Promise((resolve, reject) => {
    const at = (name) => new URL(name, import.meta.url).href;
    const script = make("script", { src: at("dygraph.min.js") });
    script.addEventListener("load", () => {
      const { Dygraph } = window;
      Dygraph.PLUGINS = Dygraph.PLUGINS.filter((each) => each !== Dygraph.Plugins.Legend);
      resolve(Dygraph);
    });
    script.addEventListener("error", reject);
    document.head.append(make("link", { rel: "stylesheet", href: at("dygraph.min.css") }), script);
  });
  return loading;
}

function letterOf(kind) {
  return kind[0].toUpperCase();
}

/** The past between those days, as that page has it. */
async function pastOf(days) {
  const answer = await fetch(withParameters(opened, days));
  return answer.ok ? readPast((await pageOf(answer)).querySelector("#past figure table")) : null;
}

/** The whole past where the page shows a part of it. */
async function wholePast(shown) {
  const all = { from: null, to: null };
  if (withParameters(opened, all) === opened) return shown;
  const whole = await pastOf(all);
  return whole ? { ...whole, points: refined(whole.points, shown) } : shown;
}

/** The page's chart. */
let current;
/** Points that are pinned, on this page. */
const pins = [];

class Chart {
  constructor(past, picture) {
    this.past = past;
    this.picture = picture;
    this.cursor = -1;
    this.plot = make("div", { class: "plot" });
    this.readout = make("p", { class: "readout", "aria-live": "polite" },
      "The pointer or the arrow keys say each point here.");
    this.pinned = make("p", { class: "pinned" });
    this.frame = make("div", {
      class: "chart", tabindex: 0, role: "application",
      "aria-label": "Past of the series: arrows move, p pins, plus and minus zoom",
    }, this.plot);
    this.tools = make("p", { class: "tools" },
      button("Zoom in", () => this.zoom(0.5)), button("Zoom out", () => this.zoom(2)),
      button("All", () => this.show(this.all())), button("Pin", () => this.pin()));
    const marked = new Set(past.marks.map(({ kind }) => kind));
    const legend = [...marked].map((kind) => `${letterOf(kind)}: ${kind}`).join(", ");
    this.box = make("div", { class: "chart-box" }, this.frame, this.readout, this.tools, this.pinned,
      make("p", { class: "legend" },
        `${legend ? `${legend}. ` : ""}Drag to zoom, double click for all.`));
  }

  all() {
    const [first, last] = [this.past.points[0].time, this.past.points.at(-1).time];
    const margin = Math.max(DAY, (last - first) / 60);
    return [first - margin, last + margin];
  }

  rows() {
    const { points, reference } = this.past;
    const level = reference === null ? [] : [[reference, reference, reference]];
    return points.map(
      ({ time, low, value, high }) => [new Date(time), [low, value, high], ...level]);
  }

  draw(Dygraph) {
    this.picture.before(this.box);
    this.picture.setAttribute("hidden", "");
    const { points } = this.past;
    const colours = paints(this.box);
    const markOf = drawPoint(points, colours);
    const mark = (...[graph, name, ...rest]) => name === "value" && markOf(graph, name, ...rest);
    this.graph = new Dygraph(this.plot, this.rows(), {
      labels: ["time", "value", ...(this.past.reference === null ? [] : ["drift"])],
      series: { drift: { color: colours.quiet, drawPoints: false, strokePattern: [8, 3, 2, 3] } },
      logscale: new URL(opened).searchParams.get("show") === "logarithmic",
      customBars: true, labelsUTC: true, legend: "never",
      dateWindow: windowOf(location.href, this.all()),
      showRangeSelector: true, rangeSelectorHeight: 34,
      rangeSelectorPlotStrokeColor: colours.line, rangeSelectorPlotFillColor: colours.grid,
      rangeSelectorForegroundStrokeColor: colours.quiet,
      colors: [colours.line], strokeWidth: 1.25, fillAlpha: 0.18,
      gridLineColor: colours.grid, axisLineColor: colours.quiet, axisLabelFontSize: 12,
      drawPoints: true, pointSize: this.plot.clientWidth / points.length < 8 ? 2.5 : 4,
      highlightCircleSize: 6,
      drawPointCallback: mark, drawHighlightPointCallback: mark,
      axes: {
        y: { axisLabelWidth: 76, axisLabelFormatter: (...[y]) => axisText(y, points[0].words) },
      },
      highlightCallback: (...[, , , row]) => this.at(row),
      underlayCallback: drawUnder(this.past, pins, colours),
      drawCallback: (...[, isFirst]) => isFirst || this.remember(),
    });
    for (const handle of this.plot.querySelectorAll("img")) handle.alt = "";
    this.graph.ready(() => this.annotate());
    this.sayPins();
  }

  /** A letter where something happened leads there. */
  annotate() {
    const { points, marks } = this.past;
    this.graph.setAnnotations(marks.map(({ kind, label, link, time }) => ({
      series: "value", x: points[nearest(points, time)].time,
      shortText: letterOf(kind), text: label, cssClass: `annotation ${kind}`,
      attachAtBottom: kind === "build", tickHeight: kind === "build" ? 2 : 18,
      width: 18, height: 18, clickHandler: () => link && location.assign(link),
    })));
  }

  at(row) {
    const point = this.past.points[row];
    if (!point || row === this.cursor) return;
    this.cursor = row;
    const build = point.link ? make("a", { href: point.link }, point.build) : point.build;
    this.readout.replaceChildren(make("strong", {}, build),
      ` ${point.words}, ${point.verdict}, ${counted(point.runs, "run")}; ${point.day}`);
  }

  /** Moves the cursor; the window follows. */
  go(row) {
    const { points } = this.past;
    const next = Math.min(Math.max(row, 0), points.length - 1);
    this.at(next);
    const [low, high] = this.graph.xAxisRange();
    const { time } = points[next];
    if (time < low || time > high) this.show([time - (high - low) / 2, time + (high - low) / 2]);
    this.graph.setSelection(next);
    return true;
  }

  move(step) {
    return this.go(this.cursor < 0 ? this.past.points.length - 1 : this.cursor + step);
  }

  show([from, to]) {
    const [first, last] = this.all();
    const low = Math.max(first, Math.min(from, last - (to - from)));
    this.graph.updateOptions({ dateWindow: [low, Math.min(last, Math.max(to, low + to - from))] });
    return true;
  }

  /** Zooms around the cursor, else the middle. */
  zoom(factor) {
    const [low, high] = this.graph.xAxisRange();
    const centre = this.past.points[this.cursor]?.time ?? (low + high) / 2;
    const half = Math.max(DAY, (high - low) * factor / 2);
    return this.show([centre - half, centre + half]);
  }

  remember() {
    clearTimeout(this.timer);
    // Browsers refuse an address that changes with each step of a drag.
    this.timer = setTimeout(() => {
      const shown = parametersOf(this.graph.xAxisRange(), this.all());
      const address = withParameters(location.href, shown);
      if (address === location.href) return;
      history.replaceState(history.state, "", address);
      if (this.past.leftOut > 0 && (shown.from || shown.to)) void this.refine(shown);
    }, 200);
  }

  /** Brings the points between those days that the page has left out. */
  async refine(days) {
    const part = await pastOf(days).catch(() => null);
    if (!part || !this.frame.isConnected) return;
    const { points } = this.past;
    const at = points[this.cursor]?.time;
    points.splice(0, points.length, ...refined(points, part));
    this.cursor = at ? nearest(points, at) : -1;
    this.graph.updateOptions({ file: this.rows() });
    this.annotate();
  }

  /** Pins the point, or no longer. Two pins make a comparison. */
  pin() {
    const point = this.past.points.at(this.cursor);
    const at = pins.findIndex(({ build }) => build === point.build);
    if (at >= 0) pins.splice(at, 1);
    else pins.push(point);
    if (pins.length > 2) pins.shift();
    this.graph.updateOptions({});
    this.sayPins();
    return true;
  }

  sayPins() {
    if (pins.length < 2) {
      this.pinned.textContent = pins.length === 1 ? `Pinned ${pins[0].build}. A second pin compares.` : "";
      return;
    }
    const [older, newer] = [...pins].sort(byTime);
    this.pinned.replaceChildren("Pinned: ", make("a", { href: comparisonOf(root, older.build, newer.build) },
      `compare ${newer.build} with ${older.build}`));
  }
}

export function chart() {
  return current;
}

export function repaint() {
  if (current?.frame.isConnected) void enhanceHistory(document.body);
}

/** Replaces the drawing of a past by a chart. */
export async function enhanceHistory(part) {
  const [section] = within(part, "#past");
  const picture = section?.querySelector("figure .picture");
  const shown = readPast(section?.querySelector("figure table") ?? null);
  if (!hasDygraphs || !picture || !shown) return;
  try {
    const [Dygraph, past] = await Promise.all([dygraphs(), wholePast(shown)]);
    section.querySelector(".chart-box")?.remove();
    current?.graph?.destroy();
    current = new Chart(past, picture);
    current.draw(Dygraph);
  } catch {
    picture.removeAttribute("hidden");
  }
}
