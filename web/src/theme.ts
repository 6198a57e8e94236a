/** Light or dark: what the system says, until somebody chooses. */
import { useSyncExternalStore } from "react";

const KEPT_AS = "penstock.theme";
type Theme = "light" | "dark";

const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

function current(): Theme {
  const chosen = localStorage.getItem(KEPT_AS);
  if (chosen === "light" || chosen === "dark") return chosen;
  return system.matches ? "dark" : "light";
}

export function applyTheme(): void {
  document.documentElement.dataset.theme = current();
  for (const listener of listeners) listener();
}

export function toggleTheme(): void {
  localStorage.setItem(KEPT_AS, current() === "dark" ? "light" : "dark");
  applyTheme();
}

system.addEventListener("change", applyTheme);

export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, current);
}
