const hiddenMs = 250;

/** Resolves before the screen is drawn next; now and then while the page is hidden, which is not drawn. */
export async function nextPaint(): Promise<number> {
  return new Promise((resolve) => {
    if (document.hidden) setTimeout(() => resolve(performance.now()), hiddenMs);
    else requestAnimationFrame(resolve);
  });
}
