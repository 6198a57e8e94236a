/** One checkpoint: its place, why it failed, and what each operator and subtask contributed. */
import { useState } from "react";
import { useLive } from "../api/live";
import type { Checkpoint, CheckpointSubtasks, CheckpointTask, Job } from "../api/types";
import * as format from "../format";
import { to } from "../route";
import { useInSight } from "../ui/in-sight";
import { Card, Facts, Notice } from "../ui/parts";
import { Table } from "../ui/table";

interface Props {
  job: Job;
  checkpoint: Checkpoint;
  onClose: () => void;
}

export function CheckpointDetails({ job, checkpoint, onClose }: Props) {
  const base = `/jobs/${job.jid}/checkpoints/details/${checkpoint.id}`;
  const details = useLive<Checkpoint>(base, 10_000).data ?? checkpoint;
  const [operator, setOperator] = useState<string>();
  const top = useInSight<HTMLDivElement>(checkpoint.id);
  const names = tasksOf(job);
  // Operators of one task are saved together, and each has the size of all.
  const tasks = Object.entries(details.tasks ?? {}).filter(([id]) => names.get(id) !== "");
  const path = details.external_path;
  return (
    <Card
      title={`${checkpoint.is_savepoint ? "Savepoint" : "Checkpoint"} ${checkpoint.id}`}
      end={
        <button className="plain" onClick={onClose} aria-label="Close">
          ✕
        </button>
      }
    >
      <div className="body stack" ref={top}>
        {details.failure_message && <p className="message bad">{details.failure_message}</p>}
        <Facts
          items={[
            ["Triggered", format.moment(details.trigger_timestamp)],
            ["Completed", format.moment(details.latest_ack_timestamp)],
            ["Epoch", format.count(details.penstock?.epoch)],
            ["Changed since the last", format.bytes(details.penstock?.["changed-bytes"] ?? details.checkpointed_size)],
            ["Path", path ? <PathLink path={path} isDeleted={details.discarded ?? false} /> : "–"],
          ]}
        />
      </div>
      {tasks.length > 0 && (
        <Table
          label="By task"
          rows={tasks}
          id={([id]) => id}
          selected={operator ?? ""}
          onOpen={([id]) => setOperator(id === operator ? undefined : id)}
          columns={[
            { title: "Task", wide: true, opens: true, by: ([id]) => names.get(id) ?? id, show: ([id]) => names.get(id) ?? id },
            { title: "Subtasks", number: true, show: ([, task]) => acknowledged(task) },
            { title: "Size", number: true, by: ([, task]) => task.state_size, show: ([, task]) => format.bytes(task.state_size) },
            { title: "Duration", number: true, by: ([, task]) => task.end_to_end_duration, show: ([, task]) => format.duration(task.end_to_end_duration) },
          ]}
        />
      )}
      {operator !== undefined && <Subtasks key={operator} base={base} operator={operator} name={names.get(operator) ?? operator} />}
    </Card>
  );
}

/** The names of all operators of a task, at the first of them; the others have none. */
function tasksOf(job: Job): Map<string, string> {
  const firsts = new Map<string, string>();
  const names = new Map<string, string>();
  for (const { id, name, penstock } of job.vertices) {
    const chain = penstock?.chain || id;
    const first = firsts.get(chain) ?? id;
    firsts.set(chain, first);
    names.set(first, id === first ? name : `${names.get(first)} → ${name}`);
    if (id !== first) names.set(id, "");
  }
  return names;
}

const acknowledged = (task: CheckpointTask) => format.part(task.num_acknowledged_subtasks, task.num_subtasks);

function PathLink({ path, isDeleted }: { path: string; isDeleted: boolean }) {
  if (isDeleted) return <span className="mono muted">{path} (deleted since)</span>;
  return (
    <a className="mono" href={`${to("state")}?path=${encodeURIComponent(path)}`}>
      {path}
    </a>
  );
}

function Subtasks({ base, operator, name }: { base: string; operator: string; name: string }) {
  const { data, refused } = useLive<CheckpointSubtasks>(`${base}/subtasks/${encodeURIComponent(operator)}`, 10_000);
  if (refused) return <Notice title={refused.message} />;
  if (data === undefined) return null;
  return (
    <div style={{ borderTop: "1px solid var(--line)" }}>
      <h3 style={{ padding: "12px 16px 0" }}>Subtasks of {name}</h3>
      <Table
        label={`Subtasks of ${name}`}
        rows={data.subtasks}
        id={(subtask) => subtask.index}
        columns={[
          { title: "Subtask", by: (s) => s.index, show: (s) => s.index },
          { title: "Size", number: true, by: (s) => s.state_size, show: (s) => format.bytes(s.state_size) },
          { title: "Duration", number: true, by: (s) => s.end_to_end_duration, show: (s) => format.duration(s.end_to_end_duration) },
          { title: "Acknowledged", number: true, by: (s) => s.ack_timestamp, show: (s) => format.moment(s.ack_timestamp) },
        ]}
      />
    </div>
  );
}
