// What a drawing of a series' past shows, read from the table that stands below it: the chart and
// its table cannot differ.

import { headingsOf, rowsOf, textOf } from "./dom.js";
import { SCALES } from "./order.js";

/**
 * A past has points (time, value, low, high, day, build, link, words, verdict, runs) and marks
 * (time, kind, label, link, value), both by time. Times are in ms; links may be empty; words are
 * "41.2 ms [41.1 ms, 41.4 ms]"; `threshold` is null where values are no ratios, `reference` where
 * there is no drift reference; `leftOut` points are in none.
 */

/** Times without a zone are UTC. */
function timeOf(text) {
  return Date.parse(/[T ]\d\d:\d\d(:\d\d)?$/.test(text) ? `${text.replace(" ", "T")}Z` : text);
}

function markOf({ cells: [when, what, shown] }) {
  return {
    time: timeOf(textOf(when)),
    kind: what.dataset.value ?? "",
    label: textOf(what),
    link: what.querySelector("a")?.href ?? "",
    value: Number(shown.dataset.value || NaN),
  };
}

function pointOf(row) {
  const { time, label, link } = markOf(row);
  const [when, , shown, interval] = row.cells;
  const value = Number(shown.dataset.value);
  const ends = (interval?.dataset.value ?? "").split(" ").map(Number);
  const [low, high] = ends.length === 2 ? ends : [value, value];
  return {
    time, value, low, high, link,
    day: textOf(when).replace("T", " ").replace(/:\d\dZ$/, " UTC"),
    build: label,
    words: `${textOf(shown)} ${textOf(interval)}`.trim(),
    verdict: textOf(row.querySelector('[data-column="verdict"]')),
    runs: textOf(row.querySelector('[data-column="runs"]')),
  };
}

/** For points and marks. */
export function byTime(left, right) {
  return left.time - right.time;
}

/** Reads a table; null where it has no points at known times. */
export function readPast(table) {
  if (!table) return null;
  const isPoint = (row) => row.cells[1]?.dataset.value === "point";
  const points = rowsOf(table).filter(isPoint).map(pointOf)
    .filter(({ time, value }) => Number.isFinite(time + value));
  const marks = rowsOf(table).filter((row) => !isPoint(row)).map(markOf)
    .filter(({ time }) => Number.isFinite(time));
  if (points.length === 0) return null;
  const [leftOut, , threshold] = headingsOf(table).map((each) => each.dataset.value);
  return {
    points: points.sort(byTime), marks: marks.sort(byTime),
    reference: marks.find(({ kind }) => kind === "drift")?.value ?? null,
    threshold: Number(threshold) || null, leftOut: Number(leftOut ?? 0),
  };
}

/** Points with those of a part in their place, of which there are more. */
export function refined(points, { points: part }) {
  const [from, to] = [part[0].time, part[part.length - 1].time];
  return [...points.filter(({ time }) => time < from || time > to), ...part].sort(byTime);
}

const TIMES = ["ns", "µs", "ms", "s"];
const SIZES = ["bytes", "KiB", "MiB", "GiB", "TiB"];

/** A value at an axis, in the units that the table has; `sample` is one of its values. */
export function axisText(value, sample) {
  if (/^[+-][\d.]+ %|^x[\d.]+/.test(sample)) {
    const change = (value - 1) * 100;
    return `${change > 0 ? "+" : ""}${Number(change.toFixed(1))} %`;
  }
  if (/^[\d.]+ %/.test(sample)) return `${Number((value * 1e-7).toPrecision(2))} %`;
  if (sample.includes("/iteration")) return value.toLocaleString("en-US");
  const units = /\d (ns|µs|ms|s)\b/.test(sample) ? TIMES : SIZES;
  const unit = units.findLast((each) => Math.abs(value) >= SCALES[each]) ?? units[0];
  return `${Number((value / SCALES[unit]).toPrecision(4))} ${unit}`;
}

/** The place of the point that is next to a moment. */
export function nearest(points, time) {
  let best = 0;
  points.forEach((point, index) => {
    if (Math.abs(point.time - time) < Math.abs(points[best].time - time)) best = index;
  });
  return best;
}
