// The state of a page in its address. Pure.

export const DAY = 86_400_000;  // in ms, as all times

/** The address with parameters set; those that are null are taken out. */
export function withParameters(address, values) {
  const url = new URL(address);
  for (const [name, value] of Object.entries(values)) {
    if (value === null) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return url.href;
}

/** "2026-11-20". */
function dayOf(ms) {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The window that `from` and `to` name; what is not given is that end of all the data. */
export function windowOf(address, all) {
  const given = new URL(address).searchParams;
  const low = Math.max(all[0], Date.parse(given.get("from") ?? "") || all[0]);
  const high = Math.min(all[1], Date.parse(given.get("to") ?? "") + DAY || all[1]);
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
