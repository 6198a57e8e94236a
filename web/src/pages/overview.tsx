/** All jobs at a glance. */
import { useLive } from "../api/live";
import type { Cluster, Config, JobSummary } from "../api/types";
import * as format from "../format";
import { go, to } from "../route";
import { Card, JobState, Notice, Pressure, Stats } from "../ui/parts";
import { Table, type Column } from "../ui/table";

const ENDED = new Set(["FINISHED", "FAILED", "CANCELED"]);

export function OverviewPage() {
  const cluster = useLive<Cluster>("/overview");
  const answer = useLive<{ jobs: JobSummary[] }>("/jobs/overview");
  const jobs = answer.data?.jobs;
  if (jobs === undefined) return answer.refused ? <Notice title={answer.refused.message} /> : null;
  const running = jobs.filter((job) => !ENDED.has(job.state)).sort((a, b) => b["start-time"] - a["start-time"]);
  const ended = jobs.filter((job) => ENDED.has(job.state)).sort((a, b) => b["end-time"] - a["end-time"]);
  return (
    <div className="stack">
      <h1 className="visually-hidden">Jobs</h1>
      {cluster.data && <ClusterStrip cluster={cluster.data} jobs={jobs} />}
      <Card title="Running">
        {running.length > 0 ? (
          <Table label="Running jobs" rows={running} columns={RUNNING} id={(job) => job.jid} onOpen={open} />
        ) : (
          <Nothing any={jobs.length > 0} />
        )}
      </Card>
      {ended.length > 0 && (
        <Card title="Ended">
          <Table label="Ended jobs" rows={ended} columns={ENDED_COLUMNS} id={(job) => job.jid} onOpen={open} most={25} />
        </Card>
      )}
    </div>
  );
}

const open = (job: JobSummary) => go(to("jobs", job.jid));

function Nothing({ any }: { any: boolean }) {
  const maySubmit = useLive<Config>("/config", 5000).data?.features?.["web-submit"] !== false;
  if (!maySubmit) return <Notice title="No job is running" />;
  return (
    <Notice title="No job is running">
      <p>{any ? "Submit a program" : "This cluster has not run a job yet. Submit a program"} on this page or from a terminal:</p>
      <pre>penstock run -d my_job.py</pre>
      <p style={{ marginTop: 14 }}>
        <a href={to("submit")}>Submit a program</a>
      </p>
    </Notice>
  );
}

function ClusterStrip({ cluster, jobs }: { cluster: Cluster; jobs: JobSummary[] }) {
  const rate = jobs.reduce((sum, job) => sum + (ENDED.has(job.state) ? 0 : (job.penstock?.rate ?? 0)), 0);
  const total = cluster["slots-total"] ?? 0;
  const waiting = jobs.filter((job) => job.state === "CREATED" && job.penstock?.waiting).length;
  return (
    <Stats
      items={[
        ["Running", format.count(cluster["jobs-running"]), waiting > 0 ? `${waiting} waiting` : undefined],
        ["Records read", format.rate(rate)],
        ["Slots free", format.count(cluster["slots-available"]), total > 0 ? `of ${format.count(total)}` : undefined],
        ["Finished", format.count(cluster["jobs-finished"])],
        ["Cancelled", format.count(cluster["jobs-cancelled"])],
        ["Failed", format.count(cluster["jobs-failed"])],
      ]}
    />
  );
}

const NAME: Column<JobSummary> = {
  title: "Job",
  wide: true,
  by: (job) => job.name.toLowerCase(),
  show: (job) => (
    <>
      <a href={to("jobs", job.jid)} style={{ fontWeight: 560 }}>
        {job.name}
      </a>
      <div className={job.penstock?.waiting ? "muted" : "mono muted"} title={job.jid}>
        {job.penstock?.waiting ?? job.jid.slice(0, 12)}
      </div>
    </>
  ),
};
const STATE: Column<JobSummary> = {
  title: "State",
  by: (job) => job.state,
  show: (job) => <JobState job={job} />,
};
const STARTED: Column<JobSummary> = {
  title: "Started",
  number: true,
  by: (job) => job["start-time"],
  show: (job) => format.moment(job["start-time"]),
};
const DURATION: Column<JobSummary> = {
  title: "Duration",
  number: true,
  by: (job) => job.duration,
  show: (job) => format.duration(job.duration),
};
const RESTARTS: Column<JobSummary> = {
  title: "Restarts",
  number: true,
  by: (job) => job.penstock?.restarts,
  show: (job) => format.count(job.penstock?.restarts ?? 0),
};

const RUNNING: Column<JobSummary>[] = [
  NAME,
  STATE,
  {
    title: "Records in",
    number: true,
    by: (job) => job.penstock?.rate,
    show: (job) => format.rate(job.state === "RUNNING" ? job.penstock?.rate : null),
  },
  {
    title: "Watermark lag",
    number: true,
    by: (job) => job.penstock?.["watermark-lag"],
    show: (job) => format.duration(job.penstock?.["watermark-lag"]),
  },
  {
    title: "Back pressure",
    by: (job) => ["ok", "low", "high"].indexOf(job.penstock?.backpressure ?? ""),
    show: (job) => <Pressure level={job.state === "RUNNING" ? job.penstock?.backpressure : null} />,
  },
  RESTARTS,
  DURATION,
];

const ENDED_COLUMNS: Column<JobSummary>[] = [
  NAME,
  STATE,
  {
    title: "Records",
    number: true,
    by: (job) => job.penstock?.["records-in"],
    show: (job) => format.compact(job.penstock?.["records-in"]),
  },
  RESTARTS,
  STARTED,
  DURATION,
];
