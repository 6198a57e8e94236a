/** The attempts of a job on one line of time: when each ran, from where it went on, and why it ended. */
import type { Attempt, Job } from "../api/types";
import * as format from "../format";
import { Card, Notice, State } from "../ui/parts";
import { Table, type Column } from "../ui/table";

export function AttemptsTab({ job }: { job: Job }) {
  const attempts = job.penstock?.attempts ?? [];
  if (attempts.length === 0) return <Card><Notice title="The job has not started yet" /></Card>;
  const until = job["end-time"] > 0 ? job["end-time"] : job.now;
  const lost = forgotten(job);
  return (
    <div className="stack">
      <Card title="Timeline" pad>
        <Timeline attempts={attempts} until={until} />
      </Card>
      <Card title="Attempts" end={lost > 0 ? <span className="muted">the last {attempts.length} of {format.count(attempts.length + lost)}</span> : undefined}>
        <Table label="Attempts" rows={attempts.toReversed()} columns={columns(until)} id={(attempt) => attempt.number} most={25} />
      </Card>
    </div>
  );
}

/** How many attempts were so long ago that nobody keeps them: they are counted from 0. */
export const forgotten = (job: Job): number => job.penstock?.attempts?.[0]?.number ?? 0;

const TONES: Record<string, string> = { FAILED: "bad", FINISHED: "accent", RUNNING: "good", RESTARTING: "bad" };

/** Gaps between the bars are the time that restarts took. */
function Timeline({ attempts, until }: { attempts: Attempt[]; until: number }) {
  const start = attempts[0]!.started_at;
  const span = Math.max(1, until - start);
  const place = (at: number) => `${((at - start) / span) * 100}%`;
  return (
    <figure className="timeline" aria-label={`${attempts.length} attempts within ${format.duration(span)}`}>
      <div className="track">
        {attempts.map((attempt) => {
          const end = attempt.ended_at ?? until;
          return (
            <div
              key={attempt.number}
              className={`attempt ${TONES[attempt.state] ?? ""}`}
              style={{ left: place(attempt.started_at), width: `max(3px, calc(${place(start + end - attempt.started_at)} - 2px))` }}
              title={`Attempt ${attempt.number}: ${attempt.state.toLowerCase()}, ${format.duration(end - attempt.started_at)}`}
            />
          );
        })}
      </div>
      <figcaption>
        <span>{format.moment(start)}</span>
        <span>{format.duration(span)}</span>
        <span>{format.moment(until)}</span>
      </figcaption>
    </figure>
  );
}

const from = (attempt: Attempt) => {
  if (attempt.from_savepoint) return <span className="mono">{attempt.from_savepoint}</span>;
  return attempt.from_epoch === null || attempt.from_epoch === undefined ? "the beginning" : `epoch ${attempt.from_epoch}`;
};

const columns = (until: number): Column<Attempt>[] => [
  {
    title: "Attempt",
    wide: true,
    by: (attempt) => attempt.number,
    show: (attempt) => (
      <>
        <b>{attempt.number}</b> {attempt.failure?.message?.split("\n")[0]}
      </>
    ),
  },
  { title: "State", by: (attempt) => attempt.state, show: (attempt) => <State state={attempt.state} /> },
  { title: "Went on from", show: from },
  { title: "Started", number: true, by: (attempt) => attempt.started_at, show: (attempt) => format.moment(attempt.started_at) },
  {
    title: "Duration",
    number: true,
    by: (attempt) => (attempt.ended_at ?? until) - attempt.started_at,
    show: (attempt) => format.duration((attempt.ended_at ?? until) - attempt.started_at),
  },
  { title: "Driver", show: (attempt) => <span className="mono">{attempt.driver ?? "–"}</span> },
];
