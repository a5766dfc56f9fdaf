// In which order cells stand: by what their words mean. Pure.

export const SCALES = {
  ns: 1, "µs": 1e3, ms: 1e6, s: 1e9, min: 6e10, h: 3.6e12, day: 8.64e13, days: 8.64e13,
  bytes: 1, byte: 1, B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4,
  "%": 1, "": 1,
};
const AMOUNT = /^([+-]?[\d,]*\.?\d+(?:e[+-]?\d+)?)\s*([a-zA-Zµ%]*)(?:\/iteration)?$/;

function amountOf(text) {
  const found = AMOUNT.exec(text);
  if (!found || !(found[2] in SCALES)) return null;
  return Number(found[1].replaceAll(",", "")) * SCALES[found[2]];
}

/** "1 h 5 min" and the like; null for anything else. */
function durationOf(text) {
  const plain = text.replace(/ ago$/, "");
  const parts = plain.match(/[\d,]+ (?:h|min|s|days?)\b/g) ?? [""];
  if (parts.join(" ") !== plain || plain === "") return null;
  return parts.reduce((sum, each) => sum + amountOf(each), 0);
}

/**
 * What a cell is ordered by: a number where it shows one, else its words; null where it is empty.
 * `exact` is what the service says of it, not rounded.
 */
export function orderOf(text, exact = "") {
  const first = exact.split(" ")[0];
  if (first !== "" && Number.isFinite(Number(first))) return Number(first);
  const words = text.trim();
  if (words === "" || words === "unknown") return null;
  if (/^x[\d.]+$/.test(words)) return (Number(words.slice(1)) - 1) * 100;
  if (/^#\d+$/.test(words)) return Number(words.slice(1));
  const interval = /^\[([^,\]]+), /.exec(words);
  return durationOf(words) ?? amountOf(interval ? interval[1] : words) ?? words;
}

/** Orders two cells: numbers before words, what is empty last whichever way. */
export function compare(left, right, isDescending) {
  if (left === null || right === null) return Number(left === null) - Number(right === null);
  const sign = isDescending ? -1 : 1;
  if (typeof left !== typeof right) return typeof left === "number" ? -sign : sign;
  return sign * (left < right ? -1 : Number(left > right));
}

/** Whether a row has every word that is asked for. */
export function fits(row, asked) {
  const text = row.toLowerCase();
  return asked.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}
