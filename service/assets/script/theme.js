// Light or dark, as the reader chose in this browser, before the first paint.
(() => {
  try {
    const chosen = localStorage.getItem("torchwatch.theme");
    if (chosen) document.documentElement.dataset.theme = chosen;
  } catch {
    // A browser that keeps nothing shows what its system prefers.
  }
})();
