/** State by operator, name and key: of a job as it is after an epoch that ends now, or of a savepoint. */
import { useState } from "react";
import { refresh, useLive } from "../api/live";
import type { StateEntries, StateList } from "../api/types";
import * as format from "../format";
import { withQuery, type Route } from "../route";
import { Card, Notice } from "../ui/parts";
import { Table, type Column } from "../ui/table";

const LIMIT = 200;

export type StateSource = { job: string } | { path: string };

/** One address for the list, one for the entries of a state. */
function addresses(source: StateSource) {
  if ("job" in source) {
    const base = `/penstock/v1/jobs/${source.job}/state`;
    return {
      list: base,
      entries: (uid: string, state: string) => `${base}/${encodeURIComponent(uid)}/${encodeURIComponent(state)}?limit=${LIMIT}`,
    };
  }
  const base = `/penstock/v1/savepoints?path=${encodeURIComponent(source.path)}`;
  return {
    list: base,
    entries: (uid: string, state: string) => `${base}&uid=${encodeURIComponent(uid)}&state=${encodeURIComponent(state)}&limit=${LIMIT}`,
  };
}

/** Reading state is work for the job: it is read when somebody asks, not all the time. */
const SELDOM_MS = 600_000;

export function StateBrowser({ source, route }: { source: StateSource; route: Route }) {
  const { data, refused } = useLive<StateList>(addresses(source).list, SELDOM_MS);
  if (refused)
    return (
      <Card>
        <Notice title="There is no state to read">
          <p style={{ marginBottom: 14 }}>{refused.message}</p>
          {"job" in source && <button onClick={refresh}>Try again</button>}
        </Notice>
      </Card>
    );
  if (data === undefined) return <Notice title="Reading …" />;
  const hasState = data.operators.filter((operator) => operator.states.length > 0);
  const all = hasState.flatMap((operator) => operator.states.map((one) => [operator.uid, one.name] as const));
  const only = all.length === 1 ? all[0]! : ([null, null] as const);
  const [uid, state] = [route.query.get("uid") ?? only[0], route.query.get("state") ?? only[1]];
  if (hasState.length === 0) return <Card><Notice title="No state"><p>No operator has registered a state yet.</p></Notice></Card>;
  return (
    <div className="state">
      <Card label="States">
        <nav className="states" aria-label="States by operator">
          {hasState.map((operator) => (
            <div key={operator.uid}>
              <h3>{operator.name ?? operator.uid}</h3>
              {operator.states.map((one) => (
                <a
                  key={one.name}
                  href={withQuery(route, { uid: operator.uid, state: one.name })}
                  aria-current={operator.uid === uid && one.name === state ? "true" : undefined}
                >
                  <span className="mono">{one.name}</span>
                  <span className="muted" title={one.type ?? undefined}>
                    {one.kind}{one.entries == null ? "" : `, ${format.compact(one.entries)}`}
                  </span>
                </a>
              ))}
            </div>
          ))}
        </nav>
      </Card>
      {uid !== null && state !== null ? (
        <Entries key={`${uid} ${state}`} source={source} uid={uid} state={state} />
      ) : (
        <Card><Notice title="Choose a state" /></Card>
      )}
    </div>
  );
}

type Entry = StateEntries["entries"][number];

function Entries({ source, uid, state }: { source: StateSource; uid: string; state: string }) {
  const [text, setText] = useState("");
  const [key, setKey] = useState("");
  const address = addresses(source).entries(uid, state) + (key === "" ? "" : `&key=${encodeURIComponent(asJson(key))}`);
  const { data, refused } = useLive<StateEntries>(address, SELDOM_MS);
  const entries = data?.entries ?? [];
  const columns: Column<Entry>[] = [
    { title: "Key", wide: true, by: (entry) => plain(entry.key), show: (entry) => <code>{plain(entry.key)}</code> },
    ...(entries.some((entry) => entry.namespace != null)
      ? [{ title: "Window", by: (entry: Entry) => plain(entry.namespace), show: (entry: Entry) => <code>{plain(entry.namespace)}</code> }]
      : []),
    { title: "Value", wide: true, show: (entry) => <code className="value">{plain(entry.value)}</code> },
  ];
  return (
    <Card
      title={<h2 className="mono">{state}</h2>}
      end={
        <form
          role="search"
          className="row lookup"
          onSubmit={(event) => {
            event.preventDefault();
            setKey(text.trim());
          }}
        >
          <input type="search" aria-label="Key" placeholder={'Key: 17, tom, ["a", 1]'} value={text} onChange={(event) => setText(event.target.value)} />
          <button>Look up</button>
        </form>
      }
    >
      {refused && <p className="message bad" style={{ margin: 16 }}>{refused.message}</p>}
      {data === undefined && !refused && <Notice title="Reading …" />}
      {data !== undefined && !refused && entries.length === 0 && <Notice title={key === "" ? "No entries" : `Nothing under the key ${key}`} />}
      {entries.length > 0 && !refused && <Table label={`Entries of ${state}`} rows={entries.map((entry, index) => ({ ...entry, index }))} columns={columns} id={(entry) => entry.index} />}
      {data && (
        <div className="legend muted" style={{ alignItems: "center" }}>
          <span>
            {data.truncated ? `The first ${format.count(entries.length)}; look up a key for others. ` : ""}
            {data.epoch != null && `As of epoch ${format.count(data.epoch)}.`}
          </span>
          {"job" in source && <button onClick={refresh}>Read again</button>}
        </div>
      )}
    </Card>
  );
}

/** What is not JSON is meant as a string. */
function asJson(text: string): string {
  try {
    JSON.parse(text);
    return text;
  } catch {
    return JSON.stringify(text);
  }
}

function plain(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
