/** The graph, who slows whom, and the operator that was chosen. */
import { useMemo, useState } from "react";
import { useLive } from "../api/live";
import type { BackPressure, Job, PlanNode, Skew } from "../api/types";
import * as format from "../format";
import { GraphView, type Colouring } from "../graph/graph-view";
import { graphOf, type Graph, type Operator } from "../graph/model";
import { go, to, withQuery, type Route } from "../route";
import { Card, Choice, LoadBar, Notice, State } from "../ui/parts";
import { Table, type Column } from "../ui/table";
import { OperatorPanel } from "./operator-panel";
import { Origin } from "./origin";
import { addSample } from "./samples";

export function GraphTab({ job, route }: { job: Job; route: Route }) {
  const plan = useLive<{ plan: { nodes: PlanNode[] } }>(`/jobs/${job.jid}/plan`).data?.plan.nodes ?? job.plan?.nodes;
  const pressure = useLive<BackPressure>(job.state === "RUNNING" ? `/penstock/v1/jobs/${job.jid}/backpressure` : null, 3000).data;
  const skewed = useLive<Skew>(job.state === "RUNNING" ? `/penstock/v1/jobs/${job.jid}/skew` : null, 4000).data?.vertices.filter((vertex) => vertex.skewed) ?? [];
  const graph = useMemo(() => {
    if (plan === undefined) return undefined;
    const made = graphOf(job, plan);
    addSample(job.jid, made, job.now); // before the charts are drawn, which show it
    return made;
  }, [job, plan]);
  const [colouring, setColouring] = useState<Colouring>("busy");
  const [shape, setShape] = useState<"graph" | "list">("graph");
  const [isWide, setWide] = useState(false);
  if (graph === undefined) return null;
  if (graph.operators.size === 0) return <NoGraph job={job} />;
  const selected = graph.operators.get(route.query.get("operator") ?? "");
  const select = (id: string | null) => go(withQuery(route, { operator: id, part: id === null ? null : route.query.get("part") }));
  return (
    <div className="stack">
      {pressure?.cause && (
        <p className="message pressed">
          <strong>Back pressure.</strong> {pressure.cause.text}.{" "}
          <a href={withQuery(route, { operator: pressure.cause.id })}>Look at {pressure.cause.name}</a>
        </p>
      )}
      {skewed.map((vertex) => (
        <p className="message warn" key={vertex.id}>
          <strong>Skew.</strong> {vertex.advice[0] ?? `The load of ${vertex.name} is uneven.`}{" "}
          <a href={withQuery(route, { operator: vertex.id, part: "keys" })}>What to do about it</a>
        </p>
      ))}
      <div className={`beside ${selected ? "open" : ""} ${isWide ? "below" : ""}`}>
        <Card
          label="Graph"
          title={
            <>
              <Choice label="Shape" options={SHAPES} value={shape} onChange={setShape} />
              {shape === "graph" && <Choice label="Colour by" options={COLOURINGS} value={colouring} onChange={setColouring} />}
            </>
          }
          end={<Find graph={graph} onFound={select} />}
        >
          {shape === "graph" ? (
            <>
              <GraphView graph={graph} colouring={colouring} selected={selected?.id} cause={pressure?.cause?.id} onSelect={select} />
              <Legend />
            </>
          ) : (
            <Table
              label="Operators"
              rows={[...graph.operators.values()]}
              columns={selected && !isWide ? BESIDE_THE_PANEL : OPERATOR_COLUMNS}
              id={(operator) => operator.id}
              selected={selected?.id ?? ""}
              onOpen={(operator) => select(operator.id)}
              most={300}
            />
          )}
        </Card>
        {selected && (
          <OperatorPanel
            job={job}
            operator={selected}
            route={route}
            isWide={isWide}
            onWide={() => setWide(!isWide)}
            onClose={() => select(null)}
          />
        )}
      </div>
    </div>
  );
}

/** The program makes the graph, and it may take its time or fail before. */
function NoGraph({ job }: { job: Job }) {
  const ended = job["end-time"] > 0;
  return (
    <Notice title={ended ? "The program ended before it had a graph" : "The graph is not known yet"}>
      <p>
        {ended ? "What it has printed is in its " : "The program is starting. What it prints is in its "}
        <a href={to("jobs", job.jid, "log")}>log</a>.
      </p>
    </Notice>
  );
}

const SHAPES = [
  ["graph", "Graph"],
  ["list", "List"],
] as const;
const COLOURINGS = [
  ["busy", "Busy"],
  ["pressed", "Back pressure"],
] as const;

function Legend() {
  return (
    <p className="legend">
      <span className="key" style={{ "--colour": "var(--busy)" } as React.CSSProperties}>
        busy
      </span>
      <span className="key" style={{ "--colour": "var(--pressed)" } as React.CSSProperties}>
        held up by others
      </span>
      <span className="key" style={{ "--colour": "var(--idle)" } as React.CSSProperties}>
        idle
      </span>
      <span className="muted">
        Operators in one box run in one task. <span className="by-mouse">Ctrl and wheel zoom.</span>
        <span className="by-touch">Two fingers zoom.</span>
      </span>
    </p>
  );
}

function Find({ graph, onFound }: { graph: Graph; onFound: (id: string) => void }) {
  const names = [...graph.operators.values()];
  if (names.length < 12) return null;
  const find = (text: string) => {
    const wanted = text.toLowerCase();
    const exact = names.find((operator) => operator.name.toLowerCase() === wanted);
    return exact ?? names.find((operator) => operator.name.toLowerCase().includes(wanted));
  };
  return (
    <form
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        const found = find(String(new FormData(event.currentTarget).get("operator")));
        if (found) onFound(found.id);
      }}
    >
      <input name="operator" type="search" list="operators" placeholder={`Find one of ${names.length} operators`} aria-label="Find an operator" />
      <datalist id="operators">
        {names.map((operator) => (
          <option key={operator.id} value={operator.name} />
        ))}
      </datalist>
    </form>
  );
}

const OPERATOR_COLUMNS: Column<Operator>[] = [
  { title: "Operator", wide: true, opens: true, by: (o) => o.name.toLowerCase(), show: (o) => <OperatorName operator={o} /> },
  { title: "State", by: (o) => o.status, show: (o) => <State state={o.status} /> },
  { title: "Load", by: (o) => o.busy, show: (o) => <LoadBar busy={o.busy} pressed={o.pressed} /> },
  { title: "Busy", number: true, by: (o) => o.busy, show: (o) => format.share(o.busy) },
  { title: "Held up", number: true, by: (o) => o.pressed, show: (o) => format.share(o.pressed) },
  { title: "In", number: true, by: (o) => o.rateIn, show: (o) => format.rate(o.rateIn) },
  { title: "Out", number: true, by: (o) => o.rateOut, show: (o) => format.rate(o.rateOut) },
  { title: "Parallel", number: true, by: (o) => o.parallelism, show: (o) => o.parallelism },
];

/** There is not room for all; the panel says the rest. */
const BESIDE_THE_PANEL = OPERATOR_COLUMNS.filter(({ title }) => title !== "State" && title !== "Parallel");

function OperatorName({ operator }: { operator: Operator }) {
  return (
    <>
      <span style={{ fontWeight: 540 }}>{operator.name}</span>
      {operator.origin && <Origin place={operator.origin} />}
    </>
  );
}
