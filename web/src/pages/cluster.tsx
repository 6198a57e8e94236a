/** The manager itself: its configuration, its surroundings, its log, and the workers. */
import { useLive } from "../api/live";
import type { KeyValue } from "../api/types";
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
}

const WORKER_COLUMNS: Column<Worker>[] = [
  { title: "Worker", wide: true, show: (worker) => <span className="mono">{worker.id}</span>, by: (worker) => worker.id },
  { title: "Address", show: (worker) => worker.path ?? "–" },
  { title: "Slots", number: true, show: (worker) => format.count(worker.slotsNumber) },
  { title: "Free", number: true, show: (worker) => format.count(worker.freeSlots) },
  { title: "Cores", number: true, show: (worker) => format.count(worker.hardware?.cpuCores) },
  { title: "Memory", number: true, show: (worker) => format.bytes(worker.hardware?.physicalMemory) },
  { title: "Last heard of", number: true, show: (worker) => format.moment(worker.timeSinceLastHeartbeat) },
];

function Workers() {
  const { data, refused } = useLive<{ taskmanagers: Worker[] }>("/taskmanagers", 5000);
  if (refused) return <Notice title={refused.message} />;
  if (data === undefined) return null;
  return (
    <Card>
      {data.taskmanagers.length === 0 ? (
        <Notice title="No workers">
          <p>Workers come with jobs: each job's driver brings its own, and they end with it.</p>
        </Notice>
      ) : (
        <Table label="Workers" rows={data.taskmanagers} columns={WORKER_COLUMNS} id={(worker) => worker.id} />
      )}
    </Card>
  );
}

function ManagerConfiguration() {
  const { data, refused } = useLive<KeyValue[]>("/jobmanager/config", 30_000);
  if (refused) return <Notice title={refused.message} />;
  return data === undefined ? null : <KeyValues label="Configuration of the manager" items={data} />;
}

interface EnvironmentAnswer {
  jvm?: { version?: string; arch?: string; options?: string[] };
  classpath?: string[];
  [more: string]: unknown;
}

function Environment() {
  const { data, refused } = useLive<EnvironmentAnswer>("/jobmanager/environment", 30_000);
  if (refused) return <Notice title={refused.message} />;
  if (data === undefined) return null;
  return (
    <Card pad>
      <Facts items={flatten(data)} />
    </Card>
  );
}

function flatten(value: unknown, name = ""): [string, string][] {
  if (Array.isArray(value)) return [[name, value.join("\n") || "–"]];
  if (value === null || typeof value !== "object") return [[name, String(value ?? "–")]];
  return Object.entries(value).flatMap(([key, inner]) => flatten(inner, name === "" ? key : `${name}.${key}`));
}

function ManagerLog() {
  const { data, refused } = useLive<string>("/jobmanager/log", 3000);
  if (refused) return <Notice title={refused.message} />;
  return data === undefined ? null : <LogView text={typeof data === "string" ? data : JSON.stringify(data)} />;
}
