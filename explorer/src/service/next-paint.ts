const hiddenMs = 250;

/** Resolves before the next repaint; after 250 ms while the page is hidden and not repainted. */
export async function nextPaint(): Promise<number> {
  return new Promise((resolve) => {
    if (document.hidden) setTimeout(() => resolve(performance.now()), hiddenMs);
    else requestAnimationFrame(resolve);
  });
}
