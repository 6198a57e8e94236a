/** Where boxes and lines go. It depends on the graph's shape only, not on its numbers. */
import { Graph as Layout, layout } from "@dagrejs/dagre";
import type { Box, Exchange, Graph } from "./model";

export const BOX_WIDTH = 216;
export const ROW_HEIGHT = 48;
const EDGE_LABEL = { width: 84, height: 26 };

export interface Place {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Line {
  path: string;
  label: { x: number; y: number };
}

export interface Picture {
  width: number;
  height: number;
  boxes: Map<string, Place>;
  lines: Map<string, Line>;
}

export const lineName = (from: string, to: string) => `${from} ${to}`;

export function draw(graph: Graph, downwards: boolean): Picture {
  const board = new Layout({ multigraph: false });
  board.setGraph({ rankdir: downwards ? "TB" : "LR", nodesep: 22, ranksep: downwards ? 28 : 44, edgesep: 14, marginx: 12, marginy: 12 });
  board.setDefaultEdgeLabel(() => ({}));
  for (const box of graph.boxes) board.setNode(box.id, { width: BOX_WIDTH, height: box.operators.length * ROW_HEIGHT });
  for (const { from, to } of graph.exchanges) board.setEdge(from, to, { ...EDGE_LABEL, labelpos: "c" });
  layout(board);
  const size = board.graph() as { width?: number; height?: number };
  const places = new Map(graph.boxes.map((box) => [box.id, corner(board.node(box.id) as Place)]));
  const boxes = new Map(graph.boxes.map((box) => [box.id, box]));
  const lineOf = (exchange: Exchange): Line => {
    const edge = board.edge(exchange.from, exchange.to) as { points: Point[]; x: number; y: number };
    const start = end(boxes.get(exchange.from)!, places.get(exchange.from)!, exchange.sender, downwards, true);
    const finish = end(boxes.get(exchange.to)!, places.get(exchange.to)!, exchange.receiver, downwards, false);
    const between = edge.points.slice(1, -1).flatMap((point) => (point.x === edge.x && point.y === edge.y ? straight(point, downwards) : [point]));
    return { path: smooth([start, ...between, finish], downwards), label: { x: edge.x, y: edge.y } };
  };
  return {
    width: size.width ?? 0,
    height: size.height ?? 0,
    boxes: places,
    lines: new Map(graph.exchanges.map((exchange) => [lineName(exchange.from, exchange.to), lineOf(exchange)])),
  };
}

/** A line leaves and reaches a box at the operator that it belongs to; downwards, in the middle of its side. */
function end(box: Box, place: Place, operator: string, downwards: boolean, isStart: boolean): Point {
  if (downwards) return { x: place.x + place.width / 2, y: isStart ? place.y + place.height : place.y };
  const row = box.operators.findIndex((one) => one.id === operator);
  return { x: isStart ? place.x + place.width : place.x, y: place.y + (row + 0.5) * ROW_HEIGHT };
}

type Point = { x: number; y: number };

/** A line does not bend where its label is. */
function straight({ x, y }: Point, downwards: boolean): Point[] {
  const half = EDGE_LABEL.width / 2;
  return downwards ? [{ x, y: y - 8 }, { x, y: y + 8 }] : [{ x: x - half, y }, { x: x + half, y }];
}

const corner = (node: Place): Place => ({ ...node, x: node.x - node.width / 2, y: node.y - node.height / 2 });

/** Through all points, leaving and arriving in the direction of the flow. */
function smooth(points: Point[], downwards: boolean): string {
  const [first, ...rest] = points;
  let path = `M${first!.x} ${first!.y}`;
  let last = first!;
  for (const point of rest) {
    const [middleX, middleY] = [(last.x + point.x) / 2, (last.y + point.y) / 2];
    path += downwards
      ? `C${last.x} ${middleY} ${point.x} ${middleY} ${point.x} ${point.y}`
      : `C${middleX} ${last.y} ${middleX} ${point.y} ${point.x} ${point.y}`;
    last = point;
  }
  return path;
}
