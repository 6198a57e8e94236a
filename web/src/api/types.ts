/** The answers that this page reads: Flink's REST API v1, and Penstock's additions below `penstock`. Times are epoch milliseconds. */

export type Level = "ok" | "low" | "high";

export interface Config {
  "flink-version"?: string;
  "penstock-version"?: string;
  features?: { "web-submit"?: boolean; "web-cancel"?: boolean; "web-rescale"?: boolean };
}

export interface Cluster {
  taskmanagers?: number;
  "slots-total"?: number;
  "slots-available"?: number;
  "jobs-running": number;
  "jobs-finished": number;
  "jobs-cancelled": number;
  "jobs-failed": number;
  "flink-version"?: string;
  "penstock-version"?: string;
}

export interface JobSummary {
  jid: string;
  name: string;
  state: string;
  "start-time": number;
  "end-time": number;
  duration: number;
  penstock?: {
    epoch?: number | null;
    "records-in"?: number | null;
    rate?: number | null;
    "watermark-lag"?: number | null;
    restarts?: number;
    backpressure?: Level | null;
    waiting?: string | null;
    script?: string | null;
  };
}

export interface PlanInput {
  num: number;
  id: string;
  ship_strategy?: string;
  penstock?: { rate?: number | null };
}

export interface PlanNode {
  id: string;
  parallelism: number;
  operator?: string;
  description: string;
  inputs?: PlanInput[];
  penstock?: { chain?: string | null; level?: number; kind?: string };
}

export interface VertexFacts {
  kind?: string;
  level?: number;
  chain?: string | null;
  origin?: string | null;
  busy?: number | null;
  backpressured?: number | null;
  idle?: number | null;
  backpressure?: Level | null;
  "rate-in"?: number | null;
  "rate-out"?: number | null;
  watermark?: number | null;
}

export interface Vertex {
  id: string;
  name: string;
  parallelism: number;
  maxParallelism?: number;
  status: string;
  "start-time"?: number;
  duration?: number;
  metrics: { "read-records"?: number; "write-records"?: number; "read-bytes"?: number; "write-bytes"?: number };
  penstock?: VertexFacts;
}

export interface Failure {
  exception?: string;
  message?: string;
  traceback?: string;
  /** The operator in which it happened. */
  task?: { operator: string; uid: string; file: string; line: number } | null;
}

export interface Attempt {
  number: number;
  state: string;
  started_at: number;
  ended_at: number | null;
  from_epoch: number | null;
  from_savepoint?: string | null;
  driver?: string | null;
  failure?: Failure | null;
}

export interface Job {
  jid: string;
  name: string;
  state: string;
  "job-type"?: string;
  "start-time": number;
  "end-time": number;
  duration: number;
  maxParallelism?: number;
  now: number;
  timestamps?: Record<string, number>;
  vertices: Vertex[];
  plan?: { nodes: PlanNode[] };
  penstock?: {
    parallelism?: number;
    epoch?: number | null;
    "records-in"?: number | null;
    "records-out"?: number | null;
    rate?: number | null;
    "watermark-lag"?: number | null;
    restarts?: number;
    attempts?: Attempt[];
    failure?: Failure | null;
    waiting?: string | null;
    script?: string | null;
  };
}

export interface Subtask {
  subtask: number;
  status: string;
  attempt: number;
  endpoint?: string | null;
  host?: string | null;
  "start-time": number;
  duration: number;
  metrics: Vertex["metrics"] & { penstock?: { busy?: number; idle?: number; backpressured?: number } };
  penstock?: { busy?: number; idle?: number; backpressured?: number };
}

export interface VertexDetails {
  id: string;
  name: string;
  parallelism: number;
  subtasks: Subtask[];
}

export interface Metric {
  id: string;
  value?: string;
}

export interface Flame {
  name: string;
  value: number;
  children?: Flame[];
}

export interface JobException {
  exceptionName: string;
  stacktrace: string;
  timestamp: number | null;
  taskName: string | null;
  endpoint?: string | null;
  penstock?: { attempt?: number; state?: string; operator?: string | null; file?: string | null; line?: number | null };
}

export interface Exceptions {
  exceptionHistory: { entries: JobException[]; truncated: boolean };
}

export interface Checkpoint {
  id: number;
  status: string;
  is_savepoint: boolean;
  checkpoint_type?: string;
  trigger_timestamp: number;
  latest_ack_timestamp: number | null;
  end_to_end_duration: number | null;
  checkpointed_size?: number | null;
  state_size: number | null;
  num_subtasks?: number;
  num_acknowledged_subtasks?: number;
  external_path?: string | null;
  discarded?: boolean;
  failure_message?: string | null;
  tasks?: Record<string, CheckpointTask>;
  penstock?: { epoch?: number; "epochs-since"?: number; "records-since"?: number; "changed-bytes"?: number | null };
}

export interface CheckpointTask {
  id?: number;
  status?: string;
  latest_ack_timestamp?: number | null;
  state_size?: number | null;
  checkpointed_size?: number | null;
  end_to_end_duration?: number | null;
  num_subtasks?: number;
  num_acknowledged_subtasks?: number;
}

export interface CheckpointSubtasks {
  subtasks: {
    index: number;
    status: string;
    ack_timestamp?: number;
    end_to_end_duration?: number | null;
    state_size?: number | null;
    checkpointed_size?: number | null;
  }[];
}

export interface Checkpoints {
  counts: { restored: number; total: number; in_progress: number; completed: number; failed: number };
  summary?: Record<string, { min: number; max: number; avg: number; p50?: number; p99?: number }>;
  latest: {
    completed: Checkpoint | null;
    savepoint: Checkpoint | null;
    failed: Checkpoint | null;
    restored: {
      id: number | null;
      restore_timestamp: number;
      is_savepoint: boolean;
      external_path: string | null;
      penstock?: { epoch?: number; "instead-of"?: string[] };
    } | null;
  };
  history: Checkpoint[];
}

export interface CheckpointConfig {
  mode?: string;
  interval?: number;
  timeout?: number;
  min_pause?: number;
  max_concurrent?: number;
  [more: string]: unknown;
}

export interface Epoch {
  number: number;
  "completed-at": number;
  duration: number;
  records: number;
  bytes: number | null;
  phases: Record<string, number>;
  snapshot?: unknown;
}

export interface BackPressure {
  vertices: { id: string; name: string; level: Level; ratio: number; busy: number; idle: number; cause: string | null }[];
  cause: { id: string; name: string; busy: number; text: string } | null;
}

export interface Skew {
  vertices: {
    id: string;
    name: string;
    coefficient: number;
    records: number[];
    "state-bytes"?: number[];
    "hot-keys"?: { key: string; share: number; count: number }[];
    skewed: boolean;
    advice: string[];
  }[];
}

export interface StateList {
  epoch?: number | null;
  operators: { uid: string; name?: string | null; states: { name: string; kind: string; type: string | null; entries: number | null; bytes: number | null }[] }[];
}

export interface StateEntries {
  epoch?: number | null;
  uid: string;
  state: string;
  entries: { key: unknown; namespace?: unknown; value: unknown }[];
  truncated: boolean;
}

export interface LogPiece {
  text: string;
  offset: number;
}

export interface Programs {
  address?: string;
  files: { id: string; name: string; uploaded: number; entry?: { name: string; description?: string | null }[] }[];
}

export interface Outcome {
  status: { id: string };
  operation?: { location?: string; "failure-cause"?: { class: string; "stack-trace": string } };
}

export interface KeyValue {
  key: string;
  value: string;
}
