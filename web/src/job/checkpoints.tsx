/** Checkpoints and savepoints: how often, how large, how long, and which one the job came from. */
import { useState } from "react";
import { useLive } from "../api/live";
import type { Checkpoint, CheckpointConfig, Checkpoints, Job } from "../api/types";
import * as format from "../format";
import { to } from "../route";
import { Card, Facts, Notice, State, Stats } from "../ui/parts";
import { Table, type Column } from "../ui/table";
import { CheckpointDetails } from "./checkpoint-details";

export function CheckpointsTab({ job }: { job: Job }) {
  const { data, refused } = useLive<Checkpoints>(`/jobs/${job.jid}/checkpoints`);
  const [open, setOpen] = useState<number>();
  if (refused) return <Notice title={refused.message} />;
  if (data === undefined) return null;
  const restored = data.latest.restored;
  const chosen = data.history.find((entry) => entry.id === open);
  return (
    <div className="stack">
      <Stats
        items={[
          ["Completed", format.count(data.counts.completed)],
          ["In progress", format.count(data.counts.in_progress)],
          ["Failed", format.count(data.counts.failed)],
          ["Restored", format.count(data.counts.restored)],
          ["Median duration", format.duration(data.summary?.end_to_end_duration?.p50 ?? data.summary?.end_to_end_duration?.avg)],
          ["Latest size", format.bytes(data.latest.completed?.state_size ?? data.latest.savepoint?.state_size)],
        ]}
      />
      {restored && (
        <p className="message">
          This attempt came from {restored.is_savepoint ? "the savepoint" : `checkpoint ${restored.id}`}
          {restored.external_path && (
            <>
              {" "}
              <a className="mono" href={`${to("state")}?path=${encodeURIComponent(restored.external_path)}`}>
                {restored.external_path}
              </a>
            </>
          )}
          {restored.penstock?.epoch !== undefined && ` (epoch ${restored.penstock.epoch})`}, restored {format.moment(restored.restore_timestamp)}.
          {(restored.penstock?.["instead-of"]?.length ?? 0) > 0 &&
            ` Damaged and passed over: ${restored.penstock!["instead-of"]!.join(", ")}.`}
        </p>
      )}
      <Card title="History">
        {data.history.length === 0 ? (
          <Notice title="None was taken yet">
            <p>Checkpoints are taken when execution.checkpointing.interval is set; a savepoint whenever you ask for one.</p>
          </Notice>
        ) : (
          <Table
            label="Checkpoints and savepoints"
            rows={data.history}
            columns={columns(restored?.id ?? null)}
            id={(entry) => entry.id}
            selected={open ?? -1}
            most={25}
            onOpen={(entry) => setOpen(entry.id === open ? undefined : entry.id)}
          />
        )}
      </Card>
      {chosen && <CheckpointDetails key={chosen.id} job={job} checkpoint={chosen} onClose={() => setOpen(undefined)} />}
      <Settings job={job.jid} />
    </div>
  );
}

function columns(restored: number | null): Column<Checkpoint>[] {
  return [
    {
      title: "Id",
      wide: true,
      opens: true,
      by: (entry) => entry.id,
      show: (entry) => (
        <>
          <b>{entry.id}</b> {entry.is_savepoint ? "Savepoint" : "Checkpoint"}
          {entry.id === restored && <span className="badge accent" style={{ marginLeft: 8 }}>restored from</span>}
        </>
      ),
    },
    { title: "Status", by: (entry) => entry.status, show: (entry) => <State state={entry.status} /> },
    { title: "Triggered", number: true, by: (entry) => entry.trigger_timestamp, show: (entry) => format.moment(entry.trigger_timestamp) },
    { title: "Duration", number: true, by: (entry) => entry.end_to_end_duration, show: (entry) => format.duration(entry.end_to_end_duration) },
    { title: "Size", number: true, by: (entry) => entry.state_size, show: (entry) => format.bytes(entry.state_size) },
    {
      title: "Subtasks",
      number: true,
      show: (entry) => format.part(entry.num_acknowledged_subtasks, entry.num_subtasks),
    },
    {
      title: "Records since",
      number: true,
      by: (entry) => entry.penstock?.["records-since"],
      show: (entry) => format.compact(entry.penstock?.["records-since"]),
    },
  ];
}

const SETTINGS: [key: string, name: string, show: (value: unknown) => string][] = [
  ["mode", "Mode", (value) => String(value).replaceAll("_", " ")],
  ["interval", "Interval", (value) => (Number(value) > 1e15 ? "off" : format.duration(Number(value)))],
  ["timeout", "Timeout", (value) => format.duration(Number(value))],
  ["min_pause", "Pause between", (value) => format.duration(Number(value))],
  ["max_concurrent", "At once", String],
  ["tolerable_failed_checkpoints", "Tolerated failures", String],
  ["unaligned_checkpoints", "Unaligned", (value) => (value ? "yes" : "no")],
  ["state_backend", "State backend", String],
  ["checkpoint_storage", "Storage", String],
];

function Settings({ job }: { job: string }) {
  const { data } = useLive<CheckpointConfig>(`/jobs/${job}/checkpoints/config`, 30_000);
  if (data === undefined) return null;
  const known = SETTINGS.filter(([key]) => data[key] !== undefined && data[key] !== null);
  return (
    <Card title="Settings" pad>
      <Facts items={known.map(([key, name, show]) => [name, show(data[key])])} />
    </Card>
  );
}
