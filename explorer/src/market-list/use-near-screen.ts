import { useEffect, useRef, useState } from "preact/hooks";

/** How far from the screen rows are still drawn, so that scrolling does not reach blank space. */
const margin = "1500px 0px";

/**
 * Returns whether any element of a part of a table is near the screen, and how high the part was last. `selector` finds
 * the elements in the whole page, again whenever `rows` changes.
 */
export function useNearScreen(
  selector: string,
  rows: unknown,
  first: { readonly isNear: boolean; readonly height: number },
): { readonly isNear: boolean; readonly height: number } {
  const [isNear, setNear] = useState(first.isNear);
  const height = useRef(first.height);
  useEffect(() => {
    const elements = [...document.querySelectorAll<HTMLElement>(selector)];
    const near = new Set<Element>(isNear ? elements : []);
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          if (isIntersecting) near.add(target);
          else near.delete(target);
        }
        if (near.size === 0 && isNear)
          height.current = elements.reduce((sum, element) => sum + element.offsetHeight, 0);
        setNear(near.size > 0);
      },
      { rootMargin: margin },
    );
    for (const element of elements) observer.observe(element);
    return () => observer.disconnect();
  }, [selector, rows, isNear]);
  return { isNear, height: height.current };
}
