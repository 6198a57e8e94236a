/** The title of the browser's tab: one finds a page among many, and sees there when a job's state changes. */
import { useEffect } from "react";

export function useTitle(title: string | undefined): void {
  useEffect(() => {
    if (title !== undefined) document.title = `${title} – Penstock`;
    return () => void (document.title = "Penstock");
  }, [title]);
}
