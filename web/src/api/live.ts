/** What the manager says, kept fresh: everyone who looks at the same path shares one poll.
 *
 * When the manager goes away all polls rest and a single probe looks for it, ever more seldom; when it is back,
 * everything is fetched anew. A hidden tab asks nothing.
 */
import { useCallback, useSyncExternalStore } from "react";
import { get, hasToken, Refused, Unreachable } from "./client";

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 15_000;
const PROBE = "/config";

export interface Live<T> {
  data?: T;
  /** Set while the last answer was a refusal; `data` may still hold the one before. */
  refused?: Refused;
  at?: number;
}

export type Connection =
  | { state: "connecting" | "live" | "no token" | "wrong token" }
  | { state: "lost"; since: number; retryAt: number };

class Poll {
  readonly listeners = new Set<() => void>();
  value: Live<unknown> = {};
  everyMs = Infinity;
  private timer: number | undefined;
  private asking = false;

  constructor(readonly path: string) {}

  ask = async (): Promise<void> => {
    clearTimeout(this.timer);
    if (this.asking || this.listeners.size === 0 || !mayAsk()) return;
    this.asking = true;
    try {
      this.tell({ data: await get(this.path), at: Date.now() });
      reached();
    } catch (error) {
      if (error instanceof Refused) this.refuse(error);
      else lost();
    } finally {
      this.asking = false;
    }
    if (this.everyMs < Infinity) this.timer = window.setTimeout(this.ask, this.everyMs);
  };

  private refuse(error: Refused): void {
    if (error.status === 401) return denied();
    reached();
    this.tell({ ...this.value, refused: error });
  }

  private tell(value: Live<unknown>): void {
    this.value = value;
    for (const listener of this.listeners) listener();
  }

  rest(): void {
    clearTimeout(this.timer);
  }
}

const polls = new Map<string, Poll>();
let connection: Connection = { state: "connecting" };
const watchers = new Set<() => void>();
let probeTimer: number | undefined;
let retryMs = FIRST_RETRY_MS;

const mayAsk = () => !document.hidden && (connection.state === "connecting" || connection.state === "live");

function change(next: Connection): void {
  connection = next;
  for (const watcher of watchers) watcher();
}

function reached(): void {
  if (connection.state === "live") return;
  retryMs = FIRST_RETRY_MS;
  change({ state: "live" });
  refresh();
}

function denied(): void {
  change({ state: hasToken() ? "wrong token" : "no token" });
}

function lost(): void {
  if (connection.state !== "lost") change({ state: "lost", since: Date.now(), retryAt: Date.now() + retryMs });
  scheduleProbe();
}

function scheduleProbe(): void {
  clearTimeout(probeTimer);
  if (connection.state !== "lost") return;
  change({ ...connection, retryAt: Date.now() + retryMs });
  probeTimer = window.setTimeout(probe, retryMs);
  retryMs = Math.min(LONGEST_RETRY_MS, retryMs * 1.6);
}

export async function probe(): Promise<void> {
  clearTimeout(probeTimer);
  try {
    await get(PROBE);
    reached();
  } catch (error) {
    if (error instanceof Unreachable) lost();
    else if (error instanceof Refused && error.status === 401) denied();
    else reached();
  }
}

/** Everything that is looked at, now: after an action, and when a tab comes to the front again. */
export function refresh(): void {
  for (const poll of polls.values()) void poll.ask();
}

/** After another token was given. */
export function reconnect(): void {
  change({ state: "connecting" });
  void probe();
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) refresh();
});

function subscribe(path: string, everyMs: number, listener: () => void): () => void {
  const poll = polls.get(path) ?? new Poll(path);
  polls.set(path, poll);
  poll.everyMs = Math.min(poll.everyMs, everyMs);
  poll.listeners.add(listener);
  if (poll.value.at === undefined || Date.now() - poll.value.at > everyMs) void poll.ask();
  return () => {
    poll.listeners.delete(listener);
    if (poll.listeners.size > 0) return;
    poll.rest();
    polls.delete(path);
  };
}

const NOTHING: Live<never> = {};

/** `null` asks nothing. The answer of a path that changes does not outlive it. */
export function useLive<T>(path: string | null, everyMs = 2000): Live<T> {
  const follow = useCallback(
    (listener: () => void) => (path === null ? () => {} : subscribe(path, everyMs, listener)),
    [path, everyMs],
  );
  return useSyncExternalStore(follow, () => (path === null ? NOTHING : (polls.get(path)?.value ?? NOTHING)) as Live<T>);
}

export function useConnection(): Connection {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => connection,
  );
}
