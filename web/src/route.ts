/** Where the page is, in the address's fragment: paths outside of it belong to the REST interface. */
import { useSyncExternalStore } from "react";

export interface Route {
  parts: string[];
  query: URLSearchParams;
}

const read = () => location.hash;

export function parse(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  return { parts: path.split("/").filter(Boolean).map(decodeURIComponent), query: new URLSearchParams(query) };
}

export function useRoute(): Route {
  const hash = useSyncExternalStore((changed) => {
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, read);
  return parse(hash);
}

export function to(...parts: (string | number)[]): string {
  return `#/${parts.map((part) => encodeURIComponent(part)).join("/")}`;
}

export function go(address: string): void {
  location.hash = address;
}

/** What is chosen on a page (an operator, a tab of it) is part of its address, so that a link shows the same. */
export function withQuery(route: Route, changes: Record<string, string | null>): string {
  const query = new URLSearchParams(route.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  return to(...route.parts) + (text === "" ? "" : `?${text}`);
}
