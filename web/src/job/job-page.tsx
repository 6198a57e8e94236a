/** One job: what it is, what can be done with it, and the pages about it. */
import type { ReactNode } from "react";
import { useLive } from "../api/live";
import type { Job } from "../api/types";
import * as format from "../format";
import { to, type Route } from "../route";
import { JobState, Notice, Stats, Tabs } from "../ui/parts";
import { useTitle } from "../ui/title";
import { Actions } from "./actions";
import { AttemptsTab, forgotten } from "./attempts";
import { CheckpointsTab } from "./checkpoints";
import { ConfigurationTab } from "./configuration";
import { ExceptionsTab } from "./exceptions";
import { GraphTab } from "./graph-tab";
import { JobLogTab } from "./job-log";
import { MetricsTab } from "./metrics";
import { JobStateTab } from "./job-state";

const TABS: [name: string, title: string, page: (props: { job: Job; route: Route }) => ReactNode][] = [
  ["graph", "Graph", GraphTab],
  ["metrics", "Metrics", MetricsTab],
  ["checkpoints", "Checkpoints", CheckpointsTab],
  ["exceptions", "Exceptions", ExceptionsTab],
  ["attempts", "Attempts", AttemptsTab],
  ["state", "State", JobStateTab],
  ["configuration", "Configuration", ConfigurationTab],
  ["log", "Log", JobLogTab],
];

export function JobPage({ route }: { route: Route }) {
  const id = route.parts[1]!;
  const { data: job, refused } = useLive<Job>(`/jobs/${id}`);
  useTitle(job && `${job.name}, ${job.state.toLowerCase()}`);
  if (job === undefined) return refused ? <Missing message={refused.message} /> : null;
  const current = route.parts[2] ?? "graph";
  const failed = job.penstock?.attempts?.filter((attempt) => attempt.failure).length || (job.penstock?.failure ? 1 : 0);
  const numbers: Record<string, number | undefined> = { exceptions: failed + (failed > 0 ? forgotten(job) : 0) };
  const tabs = TABS.map(([name, title]) => ({ name, title, address: to("jobs", id, name), number: numbers[name], bad: true }));
  const Content = TABS.find(([name]) => name === current)?.[2];
  return (
    <>
      <Head job={job} />
      <Tabs label="About the job" tabs={tabs} current={current} />
      {Content ? <Content job={job} route={route} /> : <Notice title="There is no such page" />}
    </>
  );
}

function Missing({ message }: { message: string }) {
  return (
    <Notice title="The manager does not know this job">
      <p>{message}</p>
      <p style={{ marginTop: 12 }}>
        <a href={to("jobs")}>All jobs</a>
      </p>
    </Notice>
  );
}

function Head({ job }: { job: Job }) {
  const facts = job.penstock ?? {};
  return (
    <>
      <div className="page-head">
        <div style={{ minWidth: 0 }}>
          <div className="title">
            <h1>{job.name}</h1>
            <JobState job={job} />
          </div>
          <div className="about">
            <span className="mono" title="Job id">
              {job.jid}
            </span>
            <span>started {format.moment(job["start-time"])}</span>
            {job["end-time"] > 0 && <span>ended {format.moment(job["end-time"])}</span>}
            {facts.script && <span title={facts.script}>{facts.script.split("/").at(-1)}</span>}
          </div>
        </div>
        <Actions job={job} />
      </div>
      {job.state === "CREATED" && facts.waiting && <p className="message warn">{facts.waiting}</p>}
      {job.state === "FAILED" && facts.failure && <FailureLine job={job} />}
      {job.state === "RESTARTING" && <RestartLine job={job} />}
      <div style={{ margin: "16px 0 12px" }}>
        <Stats
          items={[
            ["Duration", format.duration(job.duration)],
            job["end-time"] > 0
              ? ["Records in", format.compact(facts["records-in"])]
              : ["Records in", format.rate(job.state === "RUNNING" ? facts.rate : null), `${format.compact(facts["records-in"])} in all`],
            ["Watermark lag", format.duration(facts["watermark-lag"])],
            ["Epoch", format.count(facts.epoch)],
            ["Parallelism", format.count(facts.parallelism)],
            ["Restarts", format.count(facts.restarts ?? 0)],
          ]}
        />
      </div>
    </>
  );
}

function FailureLine({ job }: { job: Job }) {
  return (
    <p className="message bad">
      {firstLine(job.penstock?.failure)} <a href={to("jobs", job.jid, "exceptions")}>More</a>
    </p>
  );
}

function RestartLine({ job }: { job: Job }) {
  const last = job.penstock?.attempts?.findLast((attempt) => attempt.failure);
  return (
    <p className="message warn">
      {last ? `Attempt ${last.number} ended: ${firstLine(last.failure)}` : "The job starts again."}{" "}
      <a href={to("jobs", job.jid, "exceptions")}>More</a>
    </p>
  );
}

function firstLine(failure: { exception?: string; message?: string } | null | undefined): string {
  const message = failure?.message?.split("\n")[0] ?? "";
  return [failure?.exception, message].filter(Boolean).join(": ");
}
