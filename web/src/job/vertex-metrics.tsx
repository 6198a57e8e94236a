/** Every metric of an operator: its value now, and a chart of those that were picked. */
import { useEffect, useRef, useState } from "react";
import { useLive } from "../api/live";
import type { Metric } from "../api/types";
import * as format from "../format";
import { Chart } from "../ui/chart";
import { Notice } from "../ui/parts";

const MOST_POINTS = 600;

/** A Flink metric of a vertex is named `<subtask>.<metric>`. */
export function VertexMetrics({ base }: { base: string }) {
  const names = useLive<Metric[]>(`${base}/metrics`, 15_000);
  const [wanted, setWanted] = useState("");
  const [picked, setPicked] = useState<string[]>([]);
  if (names.refused) return <Notice title={names.refused.message} />;
  if (names.data === undefined) return null;
  if (names.data.length === 0) return <Notice title="This operator has reported no metrics yet" />;
  const known = names.data.map((metric) => metric.id).sort(new Intl.Collator("en", { numeric: true }).compare);
  const found = known.filter((name) => name.toLowerCase().includes(wanted.toLowerCase()));
  const toggle = (name: string) => setPicked(picked.includes(name) ? picked.filter((one) => one !== name) : [...picked, name]);
  return (
    <div className="stack">
      {picked.map((name) => (
        <MetricChart key={name} base={base} name={name} onClose={() => toggle(name)} />
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

function MetricChart({ base, name, onClose }: { base: string; name: string; onClose: () => void }) {
  const { data, at } = useLive<Metric[]>(`${base}/metrics?get=${encodeURIComponent(name)}`);
  const seen = useRef<{ times: number[]; values: (number | null)[] }>({ times: [], values: [] });
  const [, redraw] = useState(0);
  const text = data?.[0]?.value;
  useEffect(() => {
    if (at === undefined) return;
    const value = text === undefined || text === "" || Number.isNaN(Number(text)) ? null : Number(text);
    const { times, values } = seen.current;
    seen.current = { times: [...times, at / 1000].slice(-MOST_POINTS), values: [...values, value].slice(-MOST_POINTS) };
    redraw(at);
  }, [at]);
  return (
    <div className="picked">
      <button className="plain" onClick={onClose} aria-label={`Remove the chart of ${name}`}>
        ✕
      </button>
      <Chart label={name} times={seen.current.times} series={[{ name: "now", values: seen.current.values }]} show={format.compact} />
    </div>
  );
}
