// The state of a page in its address. Pure.

/** The address with parameters set; those that are null are taken out. */
export function withParameters(address, values) {
  const url = new URL(address);
  for (const [name, value] of Object.entries(values)) {
    if (value === null) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return url.href;
}

/** The day of a moment, "2026-11-20". @param {number} ms */
export function dayOf(ms) {
  return new Date(ms).toISOString().slice(0, 10);
}

/**
 * The window that `from` and `to` name, in ms; what is not given is that end of the data.
 * @param {string} address
 * @param {[number, number]} all
 * @returns {[number, number]}
 */
export function windowOf(address, all) {
  const DAY = 86_400_000;
  const given = new URL(address).searchParams;
  const from = Date.parse(given.get("from") ?? "");
  const to = Date.parse(given.get("to") ?? "");
  const low = Number.isNaN(from) ? all[0] : Math.max(all[0], from);
  const high = Number.isNaN(to) ? all[1] : Math.min(all[1], to + DAY);
  return low < high ? [low, high] : all;
}

/** The parameters that name a window; null for an end that is the data's own. */
export function parametersOf(shown, all) {
  return {
    from: shown[0] <= all[0] ? null : dayOf(shown[0]),
    to: shown[1] >= all[1] ? null : dayOf(shown[1]),
  };
}

/** Where two builds are compared, the older one first. */
export function comparisonOf(root, baseline, candidate) {
  const pair = `${encodeURIComponent(baseline)}...${encodeURIComponent(candidate)}`;
  return new URL(`compare/${pair}`, root).href;
}
