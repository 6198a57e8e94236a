/** The state in a savepoint or checkpoint, by its path. */
import { go, to, type Route } from "../route";
import { Card, Notice } from "../ui/parts";
import { StateBrowser } from "../state/state-browser";

export function SavepointPage({ route }: { route: Route }) {
  const path = route.query.get("path");
  return (
    <div className="stack">
      <h1>State in a savepoint</h1>
      <Card>
        <form
          className="path"
          role="search"
          onSubmit={(event) => {
            event.preventDefault();
            go(`${to("state")}?path=${encodeURIComponent(String(new FormData(event.currentTarget).get("path")).trim())}`);
          }}
        >
          <label className="field">
            Path of a savepoint or checkpoint
            <input key={path} name="path" className="mono" required defaultValue={path ?? ""} placeholder="/savepoints/savepoint-1a2b3c-…" />
          </label>
          <button className="primary">Open</button>
        </form>
      </Card>
      {path === null ? (
        <Card>
          <Notice title="No savepoint is open">
            <p>The state of a running job is on the job's own page, under State.</p>
          </Notice>
        </Card>
      ) : (
        <StateBrowser key={path} source={{ path }} route={route} />
      )}
    </div>
  );
}
