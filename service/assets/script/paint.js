// How a chart paints its marks, in the colours and shapes of the service's drawings.

import { make } from "./dom.js";

/** The colours of the page, as a canvas takes them. */
export function paints(box) {
  const probe = make("span");
  box.append(probe);
  const named = {
    line: "chart-line", grid: "line", quiet: "quiet", ink: "ink", paper: "paper",
    worse: "worse", better: "better", accent: "accent",
  };
  const colours = Object.entries(named).map(([name, variable]) => {
    probe.style.color = `var(--${variable})`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(colours);
}

function polygon(canvas, corners) {
  corners.forEach(([x, y], index) => (index === 0 ? canvas.moveTo(x, y) : canvas.lineTo(x, y)));
  canvas.closePath();
}

/** Draws a point by its verdict: up, down, round, square. */
export function drawPoint(points, paint) {
  return (_graph, _name, canvas, x, y, _colour, size, row) => {
    const verdict = points[row]?.verdict ?? "";
    const isWorse = verdict === "regressed";
    const isLoud = isWorse || verdict === "improved";
    canvas.beginPath();
    canvas.fillStyle = isWorse ? paint.worse : isLoud ? paint.better : paint.paper;
    canvas.strokeStyle = isLoud ? canvas.fillStyle : paint.quiet;
    const up = isWorse ? size : -size;
    if (isLoud) polygon(canvas, [[x, y - up], [x + size, y + up], [x - size, y + up]]);
    else if (verdict === "inconclusive") canvas.rect(x - size + 1, y - size + 1, 2 * size - 2, 2 * size - 2);
    else canvas.arc(x, y, size - 1, 0, 2 * Math.PI);
    canvas.fill();
    canvas.lineWidth = 1.5;
    canvas.stroke();
  };
}

/** A line between two corners. */
function line(canvas, [left, top, right, bottom], colour, dashes = []) {
  canvas.beginPath();
  canvas.setLineDash(dashes);
  canvas.strokeStyle = colour;
  canvas.moveTo(left, top);
  canvas.lineTo(right, bottom);
  canvas.stroke();
}

/** Draws what lies below the curve: no change and the threshold, events, pins. */
export function drawUnder(past, pins, paint) {
  return (canvas, { x, y, w, h }, graph) => {
    canvas.save();
    canvas.beginPath();
    canvas.rect(x, y, w, h);
    canvas.clip();
    const level = (ratio, colour, dashes) =>
      line(canvas, [x, graph.toDomYCoord(ratio), x + w, graph.toDomYCoord(ratio)], colour, dashes);
    const upright = (time, colour, dashes) =>
      line(canvas, [graph.toDomXCoord(time), y, graph.toDomXCoord(time), y + h], colour, dashes);
    if (past.threshold) {
      level(1, paint.ink);
      level(past.threshold, paint.worse, [5, 4]);
    }
    for (const { kind, time } of past.marks) if (kind !== "build") upright(time, paint.quiet, [2, 3]);
    for (const { time } of pins) upright(time, paint.accent);
    canvas.restore();
  };
}
