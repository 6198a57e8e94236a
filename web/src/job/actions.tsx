/** Savepoint, rescale, stop, cancel: each asks first, and says what became of it. */
import { useState, type ReactNode } from "react";
import { get, request } from "../api/client";
import { refresh, useLive } from "../api/live";
import type { Config, Job, Outcome } from "../api/types";
import { Dialog } from "../ui/parts";

const ENDED = new Set(["FINISHED", "FAILED", "CANCELED"]);
const OUTCOME_EVERY_MS = 500;
const LOOKS = 60;
const pause = () => new Promise((resolve) => setTimeout(resolve, OUTCOME_EVERY_MS));

interface Action {
  name: string;
  title: string;
  confirm: string;
  danger?: boolean;
  /** Whether this manager offers it; one that serves a single job cannot start it anew. */
  offered?: (config: Config) => boolean;
  /** Whether there is somebody to do it. */
  possible: (job: Job) => boolean;
  form: (job: Job) => ReactNode;
  /** What to say when it is done. */
  run: (job: string, form: FormData) => Promise<string>;
}

const runs = (job: Job) => job.state === "RUNNING";
const waits = (job: Job) => job.state === "CREATED" && Boolean(job.penstock?.waiting);

const directory = (
  <label className="field">
    Directory
    <input name="directory" className="mono" placeholder="as configured" />
    <small>Where the savepoint goes; empty means execution.checkpointing.savepoint-dir.</small>
  </label>
);

const ACTIONS: Action[] = [
  {
    name: "Savepoint",
    title: "Take a savepoint",
    confirm: "Take savepoint",
    possible: runs,
    form: () => (
      <>
        <p>The job goes on. A savepoint is never deleted by Penstock.</p>
        {directory}
      </>
    ),
    run: async (job, form) => {
      const path = await triggered(job, "savepoints", { ...given("target-directory", form), "cancel-job": false });
      return `The savepoint is at ${path}`;
    },
  },
  {
    name: "Rescale",
    title: "Change the parallelism",
    confirm: "Rescale",
    offered: (config) => config.features?.["web-rescale"] ?? true,
    possible: (job) => runs(job) || waits(job),
    form: (job) => (
      <>
        <p>
          The job stops with a savepoint and goes on from it with another number of parallel subtasks. What the program itself sets
          stays as it is.
        </p>
        <label className="field">
          Parallelism
          <input name="parallelism" type="number" min="1" max={job.maxParallelism} required defaultValue={job.penstock?.parallelism} />
        </label>
      </>
    ),
    run: async (job, form) => {
      const parallelism = String(form.get("parallelism"));
      const answer = await request<Triggered>("PATCH", `/jobs/${job}/rescaling?parallelism=${parallelism}`);
      await outcome(`/jobs/${job}/rescaling/${triggerOf(answer)}`);
      return await rescaled(job, Number(parallelism));
    },
  },
  {
    name: "Stop",
    title: "Stop with a savepoint",
    confirm: "Stop job",
    possible: runs,
    form: () => (
      <>
        <p>The job takes a savepoint and ends. It can be started again from there without loss.</p>
        {directory}
        <label className="check">
          <input type="checkbox" name="drain" />
          <span>
            Drain: fire all windows and timers first. <span className="muted">Not if you want to start the job again.</span>
          </span>
        </label>
      </>
    ),
    run: async (job, form) => {
      const path = await triggered(job, "stop", { ...given("targetDirectory", form), drain: form.get("drain") === "on" });
      return `The job has stopped. Its savepoint is at ${path}`;
    },
  },
  {
    name: "Cancel",
    title: "Cancel the job",
    confirm: "Cancel job",
    danger: true,
    offered: (config) => config.features?.["web-cancel"] ?? true,
    possible: (job) => !["CANCELLING", "CANCELING", "SUSPENDED"].includes(job.state),
    form: (job) => (
      <p>
        <strong>{job.name}</strong> ends at once, without a savepoint. Results that are visible stay. To start it again from where it
        is, stop it instead.
      </p>
    ),
    run: async (job) => {
      await request("PATCH", `/jobs/${job}?mode=cancel`);
      for (let looks = 0; looks < LOOKS; looks++) {
        const { status } = await get<{ status: string }>(`/jobs/${job}/status`);
        if (ENDED.has(status)) return "The job has been cancelled.";
        await pause();
      }
      return "The job has been asked to end, and takes its time.";
    },
  },
];

export function Actions({ job }: { job: Job }) {
  const [action, setAction] = useState<Action | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const [done, setDone] = useState<string | null>(null);
  const config = useLive<Config>("/config", 5000).data ?? {};
  const isEnded = ENDED.has(job.state);
  if (isEnded && done === null) return null;
  const open = (chosen: Action) => {
    setError(null);
    setDone(null);
    setAction(chosen);
  };
  const run = async (chosen: Action, form: FormData) => {
    setBusy(true);
    setError(null);
    try {
      setDone(await chosen.run(job.jid, form));
      setAction(null);
    } catch (problem) {
      setError((problem as Error).message);
    }
    setBusy(false);
    refresh();
  };
  return (
    <div className="end">
      {!isEnded && (
        <div className="actions">
          {ACTIONS.filter((one) => one.offered?.(config) ?? true).map((one) => (
            <button
              key={one.name}
              className={one.danger ? "danger" : ""}
              disabled={!one.possible(job)}
              title={one.possible(job) ? undefined : "Not while the job is in this state"}
              onClick={() => open(one)}
            >
              {one.name}
            </button>
          ))}
        </div>
      )}
      {done !== null && (
        <p className="message good" role="status" style={{ marginTop: 8, maxWidth: 460 }}>
          {done}
        </p>
      )}
      {action && (
        <Dialog
          title={action.title}
          confirm={action.confirm}
          danger={action.danger ?? false}
          busy={isBusy}
          error={error}
          onConfirm={(form) => void run(action, form)}
          onClose={() => setAction(null)}
        >
          {action.form(job)}
        </Dialog>
      )}
    </div>
  );
}

/** The program has the last word about its parallelism, and says it when it runs again. */
async function rescaled(job: string, wanted: number): Promise<string> {
  for (let looks = 0; looks < LOOKS; looks++) {
    const { state, penstock } = await get<Job>(`/jobs/${job}`);
    if (state === "RUNNING" && penstock?.parallelism === wanted) return `The job runs with a parallelism of ${wanted}.`;
    if (state === "RUNNING" && (penstock?.epoch ?? 0) > 0 && looks > 4) return `The job runs again with a parallelism of ${penstock?.parallelism}, which its program sets.`;
    if (ENDED.has(state) && looks > 4) break;
    await pause();
  }
  return `The job was stopped with a savepoint and is started again with a parallelism of ${wanted}.`;
}

type Triggered = { "request-id"?: string; triggerid?: string };
const triggerOf = (answer: Triggered) => answer["request-id"] ?? answer.triggerid ?? "";

function given(field: string, form: FormData): Record<string, string> {
  const value = String(form.get("directory") ?? "").trim();
  return value === "" ? {} : { [field]: value };
}

/** The path of the savepoint that this makes. */
async function triggered(job: string, what: string, body: object): Promise<string> {
  const answer = await request<Triggered>("POST", `/jobs/${job}/${what}`, body);
  const operation = await outcome(`/jobs/${job}/savepoints/${triggerOf(answer)}`);
  return operation?.location ?? "an unknown place";
}

async function outcome(path: string): Promise<Outcome["operation"]> {
  for (;;) {
    const { status, operation } = await get<Outcome>(path);
    const failure = operation?.["failure-cause"];
    if (failure) throw new Error(failure["stack-trace"] || failure.class);
    if (status.id === "COMPLETED") return operation;
    await pause();
  }
}
