/** One operator: its numbers over time, its subtasks, watermarks, Python code and keys. */
import { useLive } from "../api/live";
import type { Job, Metric, Subtask, VertexDetails } from "../api/types";
import * as format from "../format";
import type { Operator } from "../graph/model";
import { withQuery, type Route } from "../route";
import { Chart } from "../ui/chart";
import { useInSight } from "../ui/in-sight";
import { Card, Facts, LoadBar, Notice, State, Tabs } from "../ui/parts";
import { Table, type Column } from "../ui/table";
import { FlameGraph } from "./flame-graph";
import { Origin } from "./origin";
import { trackOf } from "./samples";
import { SkewPart } from "./skew";
import { VertexMetrics } from "./vertex-metrics";

const PARTS = [
  ["overview", "Overview"],
  ["subtasks", "Subtasks"],
  ["watermarks", "Watermarks"],
  ["metrics", "Metrics"],
  ["code", "Flame graph"],
  ["keys", "Skew"],
] as const;

interface Props {
  job: Job;
  operator: Operator;
  route: Route;
  isWide: boolean;
  onWide: () => void;
  onClose: () => void;
}

export function OperatorPanel({ job, operator, route, isWide, onWide, onClose }: Props) {
  const part = route.query.get("part") ?? "overview";
  const tabs = PARTS.map(([name, title]) => ({ name, title, address: withQuery(route, { part: name }) }));
  const base = `/jobs/${job.jid}/vertices/${encodeURIComponent(operator.id)}`;
  const panel = useInSight<HTMLDivElement>(operator.id);
  return (
    <Card
      label={`Operator ${operator.name}`}
      title={<h2 style={{ overflowWrap: "anywhere" }}>{operator.name}</h2>}
      end={
        <>
          <button className="plain wide-only" onClick={onWide}>
            {isWide ? "Beside" : "Wider"}
          </button>
          <button className="plain" onClick={onClose} aria-label="Close">
            ✕
          </button>
        </>
      }
    >
      <div className="panel" ref={panel}>
        <Tabs label={`About ${operator.name}`} tabs={tabs} current={part} />
        {part === "overview" && <Overview job={job} operator={operator} />}
        {part === "subtasks" && <Subtasks base={base} />}
        {part === "watermarks" && <Watermarks base={base} />}
        {part === "metrics" && <VertexMetrics base={base} parallelism={operator.parallelism} />}
        {part === "code" && <FlameGraph base={base} parallelism={operator.parallelism} />}
        {part === "keys" && <SkewPart job={job.jid} operator={operator.id} />}
      </div>
    </Card>
  );
}

function Overview({ job, operator }: { job: Job; operator: Operator }) {
  const track = trackOf(job.jid, operator.id);
  const seconds = (value: number | null) => format.duration(value);
  return (
    <div className="stack">
      <Facts
        items={[
          ["State", <State key="state" state={operator.status} />],
          ["Parallelism", operator.parallelism],
          ["Records in", `${format.count(operator.recordsIn)} (${format.rate(operator.rateIn)})`],
          ["Records out", `${format.count(operator.recordsOut)} (${format.rate(operator.rateOut)})`],
          ["Watermark", format.watermark(operator.watermark)],
          ["Kind", operator.kind ?? "–"],
          ["Written at", operator.origin ? <Origin key="origin" place={operator.origin} /> : "–"],
          ["Id", <code key="id">{operator.id}</code>],
        ]}
      />
      <Chart
        label="Records per second"
        times={track.times}
        series={[
          { name: "in", values: track.rateIn },
          { name: "out", values: track.rateOut },
        ]}
        show={format.rate}
      />
      <Chart
        label="Share of the time"
        times={track.times}
        top={1}
        series={[
          { name: "held up", values: track.pressed, filled: true, colour: "--pressed" },
          { name: "busy", values: track.busy, filled: true, colour: "--busy" },
        ]}
        show={format.share}
      />
      {track.lag.some((lag) => lag !== null) && (
        <Chart label="Watermark lag" times={track.times} series={[{ name: "lag", values: track.lag }]} show={seconds} />
      )}
    </div>
  );
}

const loadOf = (subtask: Subtask) => subtask.penstock ?? subtask.metrics.penstock ?? {};

const SUBTASK_COLUMNS: Column<Subtask>[] = [
  { title: "Subtask", wide: true, by: (s) => s.subtask, show: (s) => <SubtaskName subtask={s} /> },
  { title: "State", by: (s) => s.status, show: (s) => <State state={s.status} /> },
  { title: "Load", by: (s) => loadOf(s).busy, show: (s) => <LoadBar busy={loadOf(s).busy} pressed={loadOf(s).backpressured} /> },
  { title: "In", number: true, by: (s) => s.metrics["read-records"], show: (s) => format.compact(s.metrics["read-records"]) },
  { title: "Out", number: true, by: (s) => s.metrics["write-records"], show: (s) => format.compact(s.metrics["write-records"]) },
  { title: "Attempt", number: true, by: (s) => s.attempt, show: (s) => s.attempt },
];

function SubtaskName({ subtask }: { subtask: Subtask }) {
  return (
    <>
      <b>{subtask.subtask}</b>
      <div className="mono muted where">{subtask.endpoint ?? subtask.host}</div>
    </>
  );
}

function Subtasks({ base }: { base: string }) {
  const { data, refused } = useLive<VertexDetails>(base);
  if (refused) return <Notice title={refused.message} />;
  if (data === undefined) return null;
  return <Table label="Subtasks" rows={data.subtasks} columns={SUBTASK_COLUMNS} id={(subtask) => subtask.subtask} />;
}

function Watermarks({ base }: { base: string }) {
  const { data, refused } = useLive<Metric[]>(`${base}/watermarks`);
  if (refused) return <Notice title={refused.message} />;
  if (data === undefined) return null;
  if (data.length === 0) return <Notice title="No watermarks" />;
  const rows = data.map((metric) => ({ subtask: Number(metric.id.split(".")[0]), at: metric.value ? Number(metric.value) : null }));
  const newest = Math.max(...rows.map((row) => row.at ?? -Infinity));
  return (
    <Table
      label="Watermarks"
      rows={rows}
      id={(row) => row.subtask}
      columns={[
        { title: "Subtask", wide: true, by: (row) => row.subtask, show: (row) => <b>{row.subtask}</b> },
        { title: "Watermark (UTC)", by: (row) => row.at, show: (row) => <span className="mono">{format.watermark(row.at)}</span> },
        {
          title: "Behind the first",
          number: true,
          by: (row) => newest - (row.at ?? newest),
          show: (row) => (row.at === null || row.at === newest || row.at < -9e15 ? "–" : format.duration(newest - row.at)),
        },
      ]}
    />
  );
}
