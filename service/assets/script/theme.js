// Light or dark, and which colours, as the reader chose in this browser, before the first paint.
(() => {
  try {
    for (const name of ["theme", "colours"]) {
      const chosen = localStorage.getItem(`torchwatch.${name}`);
      if (chosen) document.documentElement.dataset[name] = chosen;
    }
  } catch {
    // A browser that keeps nothing shows what its system prefers.
  }
})();
