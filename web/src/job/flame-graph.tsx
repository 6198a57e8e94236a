/** Where the Python code of an operator spends its time, sampled while one looks. A click enlarges a frame. */
import { useState } from "react";
import { useLive } from "../api/live";
import type { Flame } from "../api/types";
import * as format from "../format";
import { Notice } from "../ui/parts";

const ROW = 22;

export function FlameGraph({ base, parallelism }: { base: string; parallelism: number }) {
  const [subtask, setSubtask] = useState("all");
  const [isHeld, setHeld] = useState(false);
  const path = `${base}/flamegraph${subtask === "all" ? "" : `?subtaskindex=${subtask}`}`;
  const { data, refused } = useLive<{ endTimestamp?: number; data?: Flame }>(isHeld ? null : path, 4000);
  const [kept, setKept] = useState<{ endTimestamp?: number; data?: Flame }>();
  if (data?.data && data !== kept) setKept(data);
  const shown = isHeld ? kept : (data ?? kept);
  if (refused) return <Notice title={refused.message} />;
  return (
    <div className="stack">
      <div className="row">
        <label className="row">
          Subtask
          <select value={subtask} onChange={(event) => setSubtask(event.target.value)} style={{ width: "auto" }}>
            <option value="all">all</option>
            {Array.from({ length: parallelism }, (_, index) => (
              <option key={index} value={index}>
                {index}
              </option>
            ))}
          </select>
        </label>
        <button onClick={() => setHeld(!isHeld)}>{isHeld ? "Go on" : "Hold"}</button>
        <span className="muted">{shown?.data ? `${format.count(shown.data.value)} samples, ${format.moment(shown.endTimestamp)}` : ""}</span>
      </div>
      {shown?.data && shown.data.value > 0 ? <Frames root={shown.data} /> : <Notice title="Sampling …"><p>Frames appear as soon as the operator does something.</p></Notice>}
    </div>
  );
}

interface Cell {
  frame: Flame;
  depth: number;
  from: number;
  share: number;
  path: string;
}

function Frames({ root }: { root: Flame }) {
  const [zoomed, setZoomed] = useState("");
  const top = find(root, zoomed) ?? root;
  const cells: Cell[] = [];
  lay(top, 0, 0, 1, zoomed, cells);
  const depth = Math.max(...cells.map((cell) => cell.depth)) + 1;
  return (
    <div>
      {zoomed !== "" && (
        <button className="plain" onClick={() => setZoomed("")}>
          ← All frames
        </button>
      )}
      <div className="flames" style={{ height: depth * ROW }} role="list" aria-label="Frames, callers first">
        {cells.map((cell) => (
          <button
            key={cell.path}
            role="listitem"
            className={cell.frame.name.endsWith("(penstock)") ? "machinery" : undefined}
            title={`${cell.frame.name}\n${format.share(cell.frame.value / root.value)} of all samples (${cell.frame.value})`}
            onClick={() => setZoomed(cell.path)}
            style={{
              top: cell.depth * ROW,
              left: `${cell.from * 100}%`,
              width: `calc(${cell.share * 100}% - 1px)`,
              "--heat": `${warmth(cell.frame.name)}%`,
            } as React.CSSProperties}
          >
            {cell.share > 0.03 ? cell.frame.name : ""}
          </button>
        ))}
      </div>
    </div>
  );
}

function lay(frame: Flame, depth: number, from: number, share: number, path: string, cells: Cell[]): void {
  if (share < 0.002) return;
  cells.push({ frame, depth, from, share, path });
  let left = from;
  (frame.children ?? []).forEach((child, index) => {
    const width = (share * child.value) / Math.max(1, frame.value);
    lay(child, depth + 1, left, width, `${path}/${index}`, cells);
    left += width;
  });
}

function find(root: Flame, path: string): Flame | undefined {
  return path
    .split("/")
    .slice(1)
    .reduce<Flame | undefined>((frame, index) => frame?.children?.[Number(index)], root);
}

/** The same function has the same shade everywhere. */
function warmth(name: string): number {
  let hash = 0;
  for (const letter of name) hash = (hash * 31 + letter.charCodeAt(0)) >>> 0;
  return 18 + (hash % 40);
}
