/** Every metric of an operator: its value now, and a chart of those that were picked. */
import { useEffect, useRef, useState } from "react";
import { useLive } from "../api/live";
import type { Metric } from "../api/types";
import * as format from "../format";
import { Chart } from "../ui/chart";
import { Notice } from "../ui/parts";

const MOST_POINTS = 600;
/** So many subtasks have a line each; of more, the least, the mean and the most are drawn. */
const MOST_LINES = 4;

/** A Flink metric of a vertex is named `<subtask>.<metric>`: here each metric is one entry, with its subtasks in one chart. */
export function VertexMetrics({ base, parallelism }: { base: string; parallelism: number }) {
  const names = useLive<Metric[]>(`${base}/metrics`, 5000);
  const [wanted, setWanted] = useState("");
  const [picked, setPicked] = useState<string[]>([]);
  if (names.refused) return <Notice title={names.refused.message} />;
  if (names.data === undefined) return null;
  if (names.data.length === 0) return <Notice title="This operator has reported no metrics yet" />;
  const known = [...new Set(names.data.map((metric) => metric.id.replace(/^\d+\./, "")))].sort(new Intl.Collator("en").compare);
  const found = known.filter((name) => name.toLowerCase().includes(wanted.toLowerCase()));
  const toggle = (name: string) => setPicked(picked.includes(name) ? picked.filter((one) => one !== name) : [...picked, name]);
  return (
    <div className="stack">
      {picked.map((name) => (
        <MetricChart key={name} base={base} name={name} parallelism={parallelism} onClose={() => toggle(name)} />
      ))}
      <input type="search" aria-label="Search for a metric" placeholder={`Search in ${known.length} metrics`} value={wanted} onChange={(e) => setWanted(e.target.value)} />
      <ul className="picks">
        {found.slice(0, 200).map((name) => (
          <li key={name}>
            <label className="check">
              <input type="checkbox" checked={picked.includes(name)} onChange={() => toggle(name)} />
              <span className="mono">{name}</span>
            </label>
          </li>
        ))}
      </ul>
    </div>
  );
}

interface ChartProps {
  base: string;
  name: string;
  parallelism: number;
  onClose: () => void;
}

function MetricChart({ base, name, parallelism, onClose }: ChartProps) {
  const each = parallelism <= MOST_LINES;
  const asked = each ? Array.from({ length: parallelism }, (_, subtask) => `${subtask}.${name}`).join(",") : name;
  const { data, at } = useLive<Answer[]>(`${base}/${each ? "" : "subtasks/"}metrics?get=${encodeURIComponent(asked)}`);
  const seen = useRef<{ times: number[]; lines: Map<string, (number | null)[]> }>({ times: [], lines: new Map() });
  const [, redraw] = useState(0);
  useEffect(() => {
    if (at === undefined || data === undefined) return;
    const { times, lines } = seen.current;
    const values = new Map(each ? data.map(({ id, value }) => [subtaskOf(id), numberOf(value)]) : inAll(data[0]));
    for (const line of values.keys()) if (!lines.has(line)) lines.set(line, times.map(() => null));
    const added = [...lines].map(([line, old]) => [line, [...old, values.get(line) ?? null].slice(-MOST_POINTS)] as const);
    seen.current = { times: [...times, at / 1000].slice(-MOST_POINTS), lines: new Map(added) };
    redraw(at);
  }, [at]);
  const series = [...seen.current.lines].sort().map(([line, values]) => ({ name: line, values }));
  return (
    <div className="picked">
      <button className="plain" onClick={onClose} aria-label={`Remove the chart of ${name}`}>
        ✕
      </button>
      <Chart label={name} times={seen.current.times} series={series} show={format.compact} />
    </div>
  );
}

type Answer = Metric & { min?: number; avg?: number; max?: number };
const subtaskOf = (id: string) => `subtask ${id.split(".")[0]}`;
const numberOf = (text: string | undefined) => (text === undefined || text === "" || Number.isNaN(Number(text)) ? null : Number(text));
const inAll = (answer: Answer | undefined): [string, number | null][] => [
  ["least", answer?.min ?? null],
  ["mean", answer?.avg ?? null],
  ["most", answer?.max ?? null],
];
