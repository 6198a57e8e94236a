/** The manager itself: its configuration, its surroundings, its log, and the workers. */
import { useLive } from "../api/live";
import type { JobSummary, KeyValue } from "../api/types";
import * as format from "../format";
import { to, type Route } from "../route";
import { LogView } from "../ui/log-view";
import { Card, Facts, Notice, Tabs } from "../ui/parts";
import { KeyValues } from "../ui/key-values";
import { Table, type Column } from "../ui/table";

const PARTS = [
  ["workers", "Workers"],
  ["configuration", "Configuration"],
  ["environment", "Environment"],
  ["log", "Log"],
] as const;

export function ClusterPage({ route }: { route: Route }) {
  const part = route.parts[1] ?? "workers";
  const tabs = PARTS.map(([name, title]) => ({ name, title, address: to("cluster", name) }));
  return (
    <>
      <div className="page-head">
        <h1>Cluster</h1>
      </div>
      <Tabs label="Cluster" tabs={tabs} current={part} />
      {part === "workers" && <Workers />}
      {part === "configuration" && <ManagerConfiguration />}
      {part === "environment" && <Environment />}
      {part === "log" && <ManagerLog />}
    </>
  );
}

interface Worker {
  id: string;
  path?: string;
  slotsNumber?: number;
  freeSlots?: number;
  timeSinceLastHeartbeat?: number;
  hardware?: { cpuCores?: number; physicalMemory?: number };
  metrics?: Record<string, number>;
  penstock?: { job?: string };
}

const columns = (names: Map<string, string>): Column<Worker>[] => [
  { title: "Worker", wide: true, show: (worker) => <span className="mono">{worker.id}</span>, by: (worker) => worker.id },
  { title: "Process", by: (worker) => worker.path, show: (worker) => worker.path ?? "–" },
  { title: "Job", by: (worker) => names.get(jobOf(worker) ?? ""), show: (worker) => <JobLink job={jobOf(worker)} names={names} /> },
  { title: "Memory", number: true, by: memory, show: (worker) => format.bytes(memory(worker)) },
  {
    title: "CPU time",
    number: true,
    by: (worker) => worker.metrics?.["Status.Process.CPU.Time"],
    show: (worker) => seconds(worker.metrics?.["Status.Process.CPU.Time"]),
  },
  { title: "Last heard of", number: true, show: (worker) => format.moment(worker.timeSinceLastHeartbeat) },
];

function jobOf(worker: Worker): string | undefined {
  return worker.penstock?.job;
}

function memory(worker: Worker): number | undefined {
  return worker.metrics?.["Status.Process.Memory.Resident"] ?? worker.hardware?.physicalMemory;
}

const seconds = (value: number | undefined) => format.duration(value === undefined ? value : value * 1000);

function JobLink({ job, names }: { job: string | undefined; names: Map<string, string> }) {
  if (job === undefined) return "–";
  return (
    <a href={to("jobs", job)} title={job}>
      {names.get(job) ?? job.slice(0, 12)}
    </a>
  );
}

function Workers() {
  const { data, refused } = useLive<{ taskmanagers: Worker[] }>("/taskmanagers", 5000);
  const jobs = useLive<{ jobs: JobSummary[] }>("/jobs/overview", 5000).data?.jobs ?? [];
  if (refused) return <Notice title={refused.message} />;
  if (data === undefined) return null;
  return (
    <Card>
      {data.taskmanagers.length === 0 ? (
        <Notice title="No workers">
          <p>Workers come with jobs: each job's driver brings its own, and they end with it.</p>
        </Notice>
      ) : (
        <Table label="Workers" rows={data.taskmanagers} columns={columns(new Map(jobs.map((job) => [job.jid, job.name])))} id={(worker) => worker.id} />
      )}
    </Card>
  );
}

function ManagerConfiguration() {
  const { data, refused } = useLive<KeyValue[]>("/jobmanager/config", 30_000);
  if (refused) return <Notice title={refused.message} />;
  return data === undefined ? null : <KeyValues label="Configuration of the manager" items={data} />;
}

/** Flink's names: its processes are Java's. */
interface EnvironmentAnswer {
  jvm: { version: string; arch: string; options: string[] };
  classpath: string[];
}

function Environment() {
  const { data, refused } = useLive<EnvironmentAnswer>("/jobmanager/environment", 30_000);
  if (refused) return <Notice title={refused.message} />;
  if (data === undefined) return null;
  return (
    <Card pad>
      <Facts
        items={[
          ["Python", data.jvm.version],
          ["Architecture", data.jvm.arch],
          ["Started as", <code key="command">{data.jvm.options.join(" ") || "–"}</code>],
          ["Modules from", <code key="path" className="value">{data.classpath.join("\n")}</code>],
        ]}
      />
    </Card>
  );
}

function ManagerLog() {
  const { data, refused } = useLive<string>("/jobmanager/log", 3000);
  if (refused) return <Notice title={refused.message} />;
  return data === undefined ? null : <LogView text={typeof data === "string" ? data : JSON.stringify(data)} />;
}
