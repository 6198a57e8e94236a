/** What went wrong: the operator, the user's line, and the traceback. The newest first. */
import { useState } from "react";
import { useLive } from "../api/live";
import type { Exceptions, Job, JobException } from "../api/types";
import * as format from "../format";
import { Card, Notice } from "../ui/parts";
import { forgotten } from "./attempts";
import { Origin } from "./origin";

const FEW = 10;
const ALL = 1000;

export function ExceptionsTab({ job }: { job: Job }) {
  const [most, setMost] = useState(FEW);
  const { data, refused } = useLive<Exceptions>(`/jobs/${job.jid}/exceptions?maxExceptions=${most}`);
  if (refused) return <Notice title={refused.message} />;
  if (data === undefined) return null;
  const { entries, truncated } = data.exceptionHistory;
  if (entries.length === 0) return <Card><Notice title="Nothing has failed" /></Card>;
  return (
    <div className="stack">
      {entries.map((entry, index) => (
        <Entry key={`${entry.timestamp} ${index}`} entry={entry} isNewest={index === 0} />
      ))}
      {truncated && most === FEW && (
        <p style={{ textAlign: "center" }}>
          <button className="plain" onClick={() => setMost(ALL)}>
            Show all
          </button>
        </p>
      )}
      {!truncated && forgotten(job) > 0 && <p className="muted" style={{ textAlign: "center" }}>Earlier ones are not kept; the job's log may still have them.</p>}
    </div>
  );
}

function Entry({ entry, isNewest }: { entry: JobException; isNewest: boolean }) {
  const facts = entry.penstock ?? {};
  const { file, line } = facts;
  return (
    <Card
      label={entry.exceptionName}
      title={
        <div style={{ minWidth: 0 }}>
          <h2 style={{ overflowWrap: "anywhere" }}>{entry.exceptionName}</h2>
          <p className="muted">
            {[
              entry.taskName ?? facts.operator ?? "outside of operators",
              facts.attempt === undefined ? null : `attempt ${facts.attempt}`,
              entry.timestamp ? format.moment(entry.timestamp) : "time unknown",
            ]
              .filter(Boolean)
              .join(" · ")}
          </p>
        </div>
      }
      end={file ? <Origin place={line ? `${file}:${line}` : file} /> : undefined}
    >
      <details open={isNewest}>
        <summary>{summary(entry)}</summary>
        <pre className="text" tabIndex={0}>
          <Traceback text={entry.stacktrace.trimEnd()} file={file ?? null} />
        </pre>
      </details>
    </Card>
  );
}

/** The last line of a Python traceback says what happened. */
function summary(entry: JobException): string {
  const lines = entry.stacktrace.split("\n").filter((line) => line.trim() !== "");
  const last = lines.findLast((line) => line.startsWith(entry.exceptionName)) ?? lines[0] ?? "Traceback";
  return last.length > 200 ? `${last.slice(0, 200)} …` : last;
}

/** The user's own lines stand out. */
function Traceback({ text, file }: { text: string; file: string | null }) {
  const name = file?.split("/").at(-1);
  return text.split("\n").map((line, index) => (
    <span key={index} className={name && line.includes(name) ? "own" : undefined}>
      {line}
      {"\n"}
    </span>
  ));
}
