// What a drawing of a series' past shows, read from the table that stands below it: the chart and
// its table cannot differ.

import { textOf } from "./dom.js";

/**
 * Times are in ms; links may be empty; words are "41.2 ms [41.1 ms, 41.4 ms]"; the threshold is
 * null where values are no ratios. Both lists are by time.
 * @typedef {{time: number, value: number, low: number, high: number, day: string, build: string,
 *   link: string, words: string, verdict: string, runs: string}} Point
 * @typedef {{time: number, kind: string, label: string, link: string}} Mark
 * @typedef {{points: Point[], marks: Mark[], threshold: number | null}} Past
 */

/** Times without a zone are UTC. @param {string} text */
function timeOf(text) {
  return Date.parse(/[T ]\d\d:\d\d(:\d\d)?$/.test(text) ? `${text.replace(" ", "T")}Z` : text);
}

function pointOf(row) {
  const cells = [...row.cells];
  const value = Number(cells[2].dataset.value);
  const ends = (cells[3]?.dataset.value ?? "").split(" ").map(Number);
  const time = timeOf(textOf(cells[0]));
  if (!Number.isFinite(value) || Number.isNaN(time)) return null;
  const [low, high] = ends.length === 2 ? ends : [value, value];
  return {
    time, value, low, high,
    day: textOf(cells[0]).replace("T", " ").replace(/:\d\dZ$/, " UTC"),
    build: textOf(cells[1]),
    link: cells[1].querySelector("a")?.href ?? "",
    words: `${textOf(cells[2])} ${textOf(cells[3])}`.trim(),
    verdict: textOf(row.querySelector('[data-column="verdict"]')),
    runs: textOf(row.querySelector('[data-column="runs"]')),
  };
}

function markOf(row) {
  const cell = row.cells[1];
  const time = timeOf(textOf(row.cells[0]));
  if (Number.isNaN(time)) return null;
  return {
    time,
    kind: cell.dataset.value ?? "",
    label: textOf(cell),
    link: cell.querySelector("a")?.href ?? "",
  };
}

/** Reads a table; null where it has no points at known times. @returns {Past | null} */
export function readPast(table) {
  if (!(table instanceof HTMLTableElement)) return null;
  const rows = [...table.tBodies[0].rows];
  const isPoint = (row) => row.cells[1]?.dataset.value === "point";
  const points = rows.filter(isPoint).map(pointOf).filter((each) => each !== null);
  const marks = rows.filter((row) => !isPoint(row)).map(markOf).filter((each) => each !== null);
  if (points.length === 0) return null;
  const given = Number(table.querySelector("th[data-value]")?.getAttribute("data-value"));
  return {
    points: points.sort((left, right) => left.time - right.time),
    marks: marks.sort((left, right) => left.time - right.time),
    threshold: given > 0 ? given : null,
  };
}

const TIMES = [[1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"]];
const SIZES = [[1, "bytes"], [1024, "KiB"], [1024 ** 2, "MiB"], [1024 ** 3, "GiB"], [1024 ** 4, "TiB"]];

/** A value at an axis, in the units that the table has; `sample` is one of its values. */
export function axisText(value, sample) {
  if (/^[+-][\d.]+ %|^x[\d.]+/.test(sample)) {
    const change = (value - 1) * 100;
    return `${change > 0 ? "+" : ""}${Number(change.toFixed(1))} %`;
  }
  if (sample.includes("/iteration")) return value.toLocaleString("en-US");
  const scales = /\d (ns|µs|ms|s)\b/.test(sample) ? TIMES : SIZES;
  const found = [...scales].reverse().find(([factor]) => Math.abs(value) >= Number(factor)) ?? scales[0];
  return `${Number((value / Number(found[0])).toPrecision(4))} ${found[1]}`;
}

/** The place of the point that is next to a moment. */
export function nearest(points, time) {
  let best = 0;
  points.forEach((point, index) => {
    if (Math.abs(point.time - time) < Math.abs(points[best].time - time)) best = index;
  });
  return best;
}
