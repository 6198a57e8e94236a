/** The job's graph as it is drawn: boxes of operators that run together, and the exchanges between the boxes. */
import type { Job, PlanNode, Vertex, VertexFacts } from "../api/types";

export interface Operator {
  id: string;
  name: string;
  parallelism: number;
  status: string;
  /** Whether the job failed here; the others only ended with it. */
  failed: boolean;
  origin: string | null;
  kind: string | null;
  busy: number | null;
  pressed: number | null;
  rateIn: number | null;
  rateOut: number | null;
  recordsIn: number | null;
  recordsOut: number | null;
  watermark: number | null;
  upstream: string[];
  downstream: string[];
}

export interface Box {
  id: string;
  operators: Operator[];
}

export interface Exchange {
  from: string;
  to: string;
  /** The operators at its ends; of several between the same boxes, the first. */
  sender: string;
  receiver: string;
  /** Flink's name of the strategy, null where records are simply passed on. */
  strategy: string | null;
  rate: number | null;
}

export interface Graph {
  operators: Map<string, Operator>;
  boxes: Box[];
  exchanges: Exchange[];
}

export function graphOf(job: Job, plan: PlanNode[]): Graph {
  const failedIn = job.penstock?.failure?.task?.uid;
  const nodes = new Map(plan.map((node) => [node.id, node]));
  const operators = new Map(job.vertices.map((vertex) => [vertex.id, operatorOf(vertex, nodes.get(vertex.id), failedIn)]));
  for (const operator of operators.values()) {
    operator.upstream = operator.upstream.filter((id) => operators.has(id));
    for (const id of operator.upstream) operators.get(id)!.downstream.push(operator.id);
  }
  const boxOf = chains(operators, nodes);
  const boxes = new Map<string, Box>();
  for (const operator of inOrder(operators)) {
    const id = boxOf.get(operator.id)!;
    if (!boxes.has(id)) boxes.set(id, { id, operators: [] });
    boxes.get(id)!.operators.push(operator);
  }
  return { operators, boxes: [...boxes.values()], exchanges: exchanges(plan, operators, boxOf) };
}

function operatorOf(vertex: Vertex, node: PlanNode | undefined, failedIn: string | undefined): Operator {
  const facts = vertex.penstock ?? {};
  const now: VertexFacts = vertex.status === "RUNNING" ? facts : {}; // what the last attempt did is no load of this moment
  return {
    id: vertex.id,
    name: vertex.name,
    parallelism: vertex.parallelism,
    status: vertex.status,
    failed: vertex.status === "FAILED" && (failedIn === undefined || failedIn === vertex.id),
    origin: facts.origin ?? null,
    kind: facts.kind ?? null,
    busy: now.busy ?? null,
    pressed: now.backpressured ?? null,
    rateIn: now["rate-in"] ?? null,
    rateOut: now["rate-out"] ?? null,
    recordsIn: vertex.metrics["read-records"] ?? null,
    recordsOut: vertex.metrics["write-records"] ?? null,
    watermark: facts.watermark ?? null,
    upstream: (node?.inputs ?? []).map((input) => input.id),
    downstream: [],
  };
}

/** Which box each operator is in. Two chains may have the same name, so that only neighbours are put together. */
function chains(operators: Map<string, Operator>, nodes: Map<string, PlanNode>): Map<string, string> {
  const parent = new Map<string, string>([...operators.keys()].map((id) => [id, id]));
  const root = (id: string): string => {
    while (parent.get(id) !== id) id = parent.get(id)!;
    return id;
  };
  for (const operator of operators.values()) {
    const chain = nodes.get(operator.id)?.penstock?.chain;
    if (!chain) continue;
    for (const id of operator.upstream) {
      const passedOn = strategyOf(nodes.get(operator.id), id) === null;
      if (passedOn && nodes.get(id)?.penstock?.chain === chain) parent.set(root(operator.id), root(id));
    }
  }
  return new Map([...operators.keys()].map((id) => [id, root(id)]));
}

function strategyOf(node: PlanNode | undefined, from: string): string | null {
  const strategy = node?.inputs?.find((input) => input.id === from)?.ship_strategy ?? "FORWARD";
  return strategy === "FORWARD" ? null : strategy;
}

function exchanges(plan: PlanNode[], operators: Map<string, Operator>, boxOf: Map<string, string>): Exchange[] {
  const found = new Map<string, Exchange>();
  for (const node of plan) {
    for (const input of node.inputs ?? []) {
      const [from, to] = [boxOf.get(input.id), boxOf.get(node.id)];
      if (from === undefined || to === undefined || from === to) continue;
      const sender = operators.get(input.id)!;
      const rate = sender.status === "RUNNING" ? (input.penstock?.rate ?? sender.rateOut) : null;
      const known = found.get(`${from} ${to}`);
      if (known === undefined)
        found.set(`${from} ${to}`, { from, to, sender: input.id, receiver: node.id, strategy: strategyOf(node, input.id), rate });
      else known.rate = known.rate === null || rate === null ? null : known.rate + rate;
    }
  }
  return [...found.values()];
}

/** Senders before receivers. */
function inOrder(operators: Map<string, Operator>): Operator[] {
  const order: Operator[] = [];
  const waiting = new Map([...operators.values()].map((operator) => [operator.id, operator.upstream.length]));
  const ready = [...operators.values()].filter((operator) => operator.upstream.length === 0);
  for (let operator = ready.shift(); operator !== undefined; operator = ready.shift()) {
    order.push(operator);
    for (const id of operator.downstream) {
      const left = waiting.get(id)! - 1;
      waiting.set(id, left);
      if (left === 0) ready.push(operators.get(id)!);
    }
  }
  return order;
}
