/** What operators did since this page was opened, for the charts: one sample each time the job's numbers come in. */
import type { Graph, Operator } from "../graph/model";

const MOST = 900;

export interface Track {
  times: number[];
  rateIn: (number | null)[];
  rateOut: (number | null)[];
  busy: (number | null)[];
  pressed: (number | null)[];
  lag: (number | null)[];
}

const tracks = new Map<string, Track>();
const empty = (): Track => ({ times: [], rateIn: [], rateOut: [], busy: [], pressed: [], lag: [] });

export const trackOf = (job: string, operator: string): Track => tracks.get(`${job} ${operator}`) ?? empty();

export function addSample(job: string, graph: Graph, at: number): void {
  for (const operator of graph.operators.values()) {
    const name = `${job} ${operator.id}`;
    const old = tracks.get(name) ?? empty();
    if (old.times.at(-1) === at / 1000) continue;
    tracks.set(name, grown(old, operator, at));
  }
}

/** A new object each time: charts see by it that there is something to draw. */
function grown(old: Track, operator: Operator, at: number): Track {
  const lag = operator.watermark === null ? null : Math.max(0, at - operator.watermark);
  return {
    times: push(old.times, at / 1000),
    rateIn: push(old.rateIn, operator.rateIn),
    rateOut: push(old.rateOut, operator.rateOut),
    busy: push(old.busy, operator.busy),
    pressed: push(old.pressed, operator.pressed),
    // Watermarks at the ends of time, and event times of another decade, have no lag worth drawing.
    lag: push(old.lag, lag !== null && lag < 30 * 86_400_000 ? lag : null),
  };
}

function push<T>(values: T[], value: T): T[] {
  return [...(values.length >= MOST ? values.slice(1) : values), value];
}
