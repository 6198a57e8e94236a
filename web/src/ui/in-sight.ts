/** What somebody opens is seen: it is scrolled to when it appears below the screen's edge. */
import { useEffect, useRef, type RefObject } from "react";

export function useInSight<T extends HTMLElement>(what: unknown): RefObject<T | null> {
  const element = useRef<T>(null);
  useEffect(() => {
    const card = element.current?.closest<HTMLElement>(".card");
    if (card && card.getBoundingClientRect().top > innerHeight - 120) card.scrollIntoView();
  }, [what]);
  return element;
}
