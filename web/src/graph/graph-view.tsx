/** The job's graph. Arrow keys go along the flow, Enter opens an operator. */
import { memo, useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import * as format from "../format";
import { BOX_WIDTH, draw, lineName, ROW_HEIGHT, type Picture } from "./layout";
import type { Box, Exchange, Graph, Operator } from "./model";
import { useView } from "./view";

export type Colouring = "busy" | "pressed";

interface Props {
  graph: Graph;
  colouring: Colouring;
  selected: string | undefined;
  cause: string | undefined;
  onSelect: (id: string) => void;
}

export function GraphView({ graph, colouring, selected, cause, onSelect }: Props) {
  const downwards = useNarrow();
  const shape = shapeOf(graph);
  const picture = useMemo(() => draw(graph, downwards), [shape, downwards]);
  const target = useMemo(() => (selected === undefined ? undefined : placeOf(graph, picture, selected)), [picture, selected]);
  const beginning = useMemo(() => picture.boxes.get(beginningOf(graph)?.id ?? ""), [picture]);
  const { frame, view, zoom, fit, reveal, pointers, hidden } = useView(picture, beginning, target);
  const drawing = useRef<SVGSVGElement>(null);

  const walk = (event: KeyboardEvent, operator: Operator) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      onSelect(operator.id);
      return;
    }
    const next = neighbour(graph, operator, event.key);
    if (next === undefined) return;
    event.preventDefault();
    reveal(placeOf(graph, picture, next)!);
    drawing.current?.querySelector<SVGElement>(`[data-operator="${CSS.escape(next)}"]`)?.focus({ preventScroll: true });
  };

  const entry = selected ?? graph.boxes[0]?.operators[0]?.id;
  return (
    <div className="graph" ref={frame} {...pointers}>
      <svg ref={drawing} width="100%" height="100%" role="group" aria-label="Graph of the job; arrow keys move along it">
        <defs>
          <marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">
            <path d="M0 0.5 8 4 0 7.5z" fill="var(--line-strong)" />
          </marker>
        </defs>
        <g transform={`translate(${view.x} ${view.y}) scale(${view.scale})`}>
          {graph.exchanges.map((exchange) => (
            <Line key={lineName(exchange.from, exchange.to)} exchange={exchange} picture={picture} />
          ))}
          {graph.boxes.map((box) => {
            const place = picture.boxes.get(box.id);
            if (place === undefined) return null;
            return (
              <g key={box.id} transform={`translate(${place.x} ${place.y})`}>
                <rect className="box" width={place.width} height={place.height} rx="8" />
                {box.operators.map((operator, index) => (
                  <g key={operator.id} transform={`translate(0 ${index * ROW_HEIGHT})`}>
                    <Row
                      operator={operator}
                      colouring={colouring}
                      isSelected={operator.id === selected}
                      isCause={operator.id === cause}
                      isEntry={operator.id === entry}
                      isFirst={index === 0}
                      onSelect={onSelect}
                      onKey={walk}
                    />
                  </g>
                ))}
              </g>
            );
          })}
        </g>
      </svg>
      <div className="more" data-hidden={hidden} />
      <div className="zoom">
        <button aria-label="Larger" onClick={() => zoom(1.25)}>
          +
        </button>
        <button aria-label="Smaller" onClick={() => zoom(0.8)}>
          −
        </button>
        <button onClick={() => fit(true)}>Fit</button>
      </div>
    </div>
  );
}

interface RowProps {
  operator: Operator;
  colouring: Colouring;
  isSelected: boolean;
  isCause: boolean;
  isEntry: boolean;
  isFirst: boolean;
  onSelect: (id: string) => void;
  onKey: (event: KeyboardEvent, operator: Operator) => void;
}

function Row({ operator, colouring, isSelected, isCause, isEntry, isFirst, onSelect, onKey }: RowProps) {
  const load = colouring === "busy" ? operator.busy : operator.pressed;
  const { failed } = operator;
  const rate = operator.rateOut ?? operator.rateIn;
  const inner = BOX_WIDTH - 24;
  const words = `${operator.name}, ${operator.parallelism} parallel, ${operator.status.toLowerCase()}, busy ${format.share(operator.busy)}, back-pressured ${format.share(operator.pressed)}`;
  return (
    <g
      className="operator"
      role="button"
      tabIndex={isEntry ? 0 : -1}
      data-operator={operator.id}
      aria-label={words}
      aria-pressed={isSelected}
      onClick={() => onSelect(operator.id)}
      onKeyDown={(event) => onKey(event, operator)}
    >
      <title>{words}</title>
      {!isFirst && <line className="seam" x1="0" x2={BOX_WIDTH} />}
      <rect
        className="ground"
        x="3"
        y="3"
        width={BOX_WIDTH - 6}
        height={ROW_HEIGHT - 6}
        rx="5"
        style={{
          fill: failed ? "var(--bad-soft)" : `var(--${colouring})`,
          fillOpacity: failed ? 1 : Math.min(1, load ?? 0) * 0.34,
        }}
      />
      <text className="name" x="12" y="20">
        {shortened(operator.name, 29)}
      </text>
      <text className="figure" x="12" y="35">
        ×{operator.parallelism}
        {isCause ? "" : rate !== null ? ` · ${format.rate(rate)}` : operator.recordsIn ? ` · ${format.compact(operator.recordsIn)} records` : ""}
      </text>
      <text className={isCause ? "figure cause" : "figure"} x={BOX_WIDTH - 12} y="35" textAnchor="end">
        {failed ? "failed" : load === null ? "" : `${format.share(load)} ${colouring === "busy" ? "busy" : "held up"}`}
        {isCause && ", slows others"}
      </text>
      <rect className="idle" x="12" y="40" width={inner} height="3" rx="1.5" />
      <rect x="12" y="40" width={inner * (operator.busy ?? 0)} height="3" rx="1.5" fill="var(--busy)" />
      <rect x={12 + inner * (operator.busy ?? 0)} y="40" width={inner * beside(operator)} height="3" rx="1.5" fill="var(--pressed)" />
    </g>
  );
}

/** Both are those of the subtask that has most of it, and together they may be more than all. */
const beside = (operator: Operator) => Math.min(operator.pressed ?? 0, 1 - (operator.busy ?? 0));

const Line = memo(function Line({ exchange, picture }: { exchange: Exchange; picture: Picture }) {
  const line = picture.lines.get(lineName(exchange.from, exchange.to));
  if (line === undefined) return null;
  const strategy = (exchange.strategy ?? "forward").toLowerCase();
  return (
    <g>
      <path className="line" d={line.path} markerEnd="url(#tip)" data-passed-on={exchange.strategy === null ? "" : undefined} />
      <g className="on-line" transform={`translate(${line.label.x} ${line.label.y})`}>
        <text textAnchor="middle" y="-5">
          {shortened(strategy, 14)}
        </text>
        <text className="rate" textAnchor="middle" y="13">
          {exchange.rate === null ? "" : format.rate(exchange.rate)}
        </text>
      </g>
    </g>
  );
});

/** Of all sources, the one from which most operators are reached. */
function beginningOf(graph: Graph): Box | undefined {
  const reached = (box: Box) => {
    const seen = new Set<string>();
    const waiting = box.operators.map((operator) => operator.id);
    while (waiting.length > 0) {
      const id = waiting.pop()!;
      if (!seen.has(id)) waiting.push(...(graph.operators.get(id)?.downstream ?? []));
      seen.add(id);
    }
    return seen.size;
  };
  const sources = graph.boxes.filter((box) => box.operators.some((operator) => operator.upstream.length === 0));
  return sources.reduce<Box | undefined>((best, box) => (best === undefined || reached(box) > reached(best) ? box : best), undefined);
}

/** The layout is made anew only when this changes. */
function shapeOf(graph: Graph): string {
  const boxes = graph.boxes.map((box) => box.operators.map((operator) => operator.id).join("+"));
  return [...boxes, ...graph.exchanges.map((exchange) => lineName(exchange.from, exchange.to))].join("\n");
}

function placeOf(graph: Graph, picture: Picture, id: string) {
  for (const box of graph.boxes) {
    const index = box.operators.findIndex((operator) => operator.id === id);
    const place = index < 0 ? undefined : picture.boxes.get(box.id);
    if (place) return { x: place.x, y: place.y + index * ROW_HEIGHT, width: BOX_WIDTH, height: ROW_HEIGHT };
  }
  return undefined;
}

function neighbour(graph: Graph, operator: Operator, key: string): string | undefined {
  if (key === "ArrowRight") return operator.downstream[0];
  if (key === "ArrowLeft") return operator.upstream[0];
  if (key !== "ArrowDown" && key !== "ArrowUp") return undefined;
  const all = graph.boxes.flatMap((box) => box.operators);
  return all[all.indexOf(operator) + (key === "ArrowDown" ? 1 : -1)]?.id;
}

/** The beginning and the end: names of operators often differ in their ends. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = Math.floor((most - 1) / 3);
  return `${text.slice(0, most - 1 - end)}…${text.slice(-end)}`;
}

function useNarrow(): boolean {
  const query = useMemo(() => matchMedia("(max-width: 700px)"), []);
  const [narrow, setNarrow] = useState(query.matches);
  useEffect(() => {
    const changed = () => setNarrow(query.matches);
    query.addEventListener("change", changed);
    return () => query.removeEventListener("change", changed);
  }, [query]);
  return narrow;
}
