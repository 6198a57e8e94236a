/** The frame around every page: where one can go, whether the manager answers, and the way in. */
import { useEffect, useRef, useState, type FormEvent, type ReactNode } from "react";
import { setToken } from "./api/client";
import { probe, reconnect, useConnection, useLive, type Connection } from "./api/live";
import type { Config } from "./api/types";
import { duration } from "./format";
import { JobPage } from "./job/job-page";
import { ClusterPage } from "./pages/cluster";
import { OverviewPage } from "./pages/overview";
import { SavepointPage } from "./pages/savepoint";
import { SubmitPage } from "./pages/submit";
import { to, useRoute, type Route } from "./route";
import { toggleTheme, useTheme } from "./theme";
import { Notice } from "./ui/parts";
import { useTitle } from "./ui/title";

const PLACES = [
  ["jobs", "Jobs"],
  ["submit", "Submit"],
  ["state", "State"],
  ["cluster", "Cluster"],
] as const;
type Place = (typeof PLACES)[number];

export function App() {
  const connection = useConnection();
  // Also tells a page that asks nothing itself when the manager goes away.
  const config = useLive<Config>("/config", 5000).data;
  const route = useRoute();
  const place = route.parts[0] ?? "jobs";
  const needsToken = connection.state === "no token" || connection.state === "wrong token";
  return (
    <>
      <a className="visually-hidden" href="#main" onClick={skipToMain}>
        Skip to content
      </a>
      <Bar place={place} connection={connection} places={placesOf(config)} />
      {connection.state === "lost" && <Lost since={connection.since} retryAt={connection.retryAt} />}
      <Main address={route.parts.slice(0, 2).join("/")}>
        {needsToken ? <TokenGate wrong={connection.state === "wrong token"} /> : <Page route={route} />}
      </Main>
    </>
  );
}

function skipToMain(event: { preventDefault: () => void }): void {
  event.preventDefault();
  document.querySelector("main")?.focus();
}

function Page({ route }: { route: Route }) {
  const [place = "jobs", id] = route.parts;
  // The page of a job has a title of its own.
  useTitle(place === "jobs" && id !== undefined ? undefined : PLACES.find(([name]) => name === place)?.[1]);
  if (place === "jobs") return id === undefined ? <OverviewPage /> : <JobPage key={id} route={route} />;
  if (place === "submit") return <SubmitPage />;
  if (place === "state") return <SavepointPage route={route} />;
  if (place === "cluster") return <ClusterPage route={route} />;
  return (
    <Notice title="There is no such page">
      <p>
        <a href={to("jobs")}>To the jobs</a>
      </p>
    </Notice>
  );
}

/** The interface of a single job takes no others. */
const placesOf = (config: Config | undefined) =>
  PLACES.filter(([name]) => name !== "submit" || config?.features?.["web-submit"] !== false);

function Bar({ place, places, connection }: { place: string; places: readonly Place[]; connection: Connection }) {
  const theme = useTheme();
  const words = { live: "Live", lost: "Manager unreachable", connecting: "Connecting" } as Record<string, string>;
  return (
    <header className="bar">
      <a className="brand" href={to("jobs")} aria-label="Penstock, all jobs">
        <img src="./icon.svg" alt="" width="24" height="24" />
        <span>Penstock</span>
      </a>
      <nav aria-label="Main">
        {places.map(([name, title]) => (
          <a key={name} href={to(name)} aria-current={name === place ? "page" : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <div className="end">
        <div className="live" data-state={connection.state} role="status" title={words[connection.state]}>
          <span>{words[connection.state] ?? "Token needed"}</span>
        </div>
        <button className="plain" onClick={toggleTheme} aria-label={theme === "dark" ? "Light colours" : "Dark colours"}>
          <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
            <circle cx="8" cy="8" r="6.2" fill="none" stroke="currentColor" strokeWidth="1.6" />
            <path d="M8 1.8a6.2 6.2 0 0 1 0 12.4z" fill="currentColor" />
          </svg>
        </button>
      </div>
    </header>
  );
}

/** A new page starts at its top, and a screen reader hears of it. */
function Main({ address, children }: { address: string; children: ReactNode }) {
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) {
      scrollTo(0, 0);
      main.current?.focus({ preventScroll: true });
    }
    isFirst.current = false;
  }, [address]);
  return (
    <main id="main" ref={main} tabIndex={-1}>
      {children}
    </main>
  );
}

function Lost({ since, retryAt }: { since: number; retryAt: number }) {
  const now = useNow();
  return (
    <div className="lost" role="alert">
      <strong>The manager does not answer.</strong>
      <span className="muted">
        What you see is {duration(now - since)} old. Jobs go on without the manager. Next try in{" "}
        {Math.max(0, Math.ceil((retryAt - now) / 1000))} s.
      </span>
      <button onClick={() => void probe()}>Try now</button>
    </div>
  );
}

function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

function TokenGate({ wrong }: { wrong: boolean }) {
  const enter = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setToken(String(new FormData(event.currentTarget).get("token")).trim());
    reconnect();
  };
  return (
    <section className="card gate" aria-labelledby="gate">
      <h1 id="gate">Token</h1>
      <p className="muted" style={{ marginTop: 6 }}>
        The manager asks for its token. <code>penstock cluster status</code> prints an address that contains it; here it is kept
        until this tab is closed.
      </p>
      <form onSubmit={enter}>
        <label className="field">
          Token
          <input name="token" type="password" autoComplete="off" required autoFocus />
        </label>
        {wrong && (
          <p className="message bad" role="alert">
            This is not the manager's token. A manager that was started anew may have another one.
          </p>
        )}
        <button className="primary" style={{ justifySelf: "start" }}>
          Open
        </button>
      </form>
    </section>
  );
}
