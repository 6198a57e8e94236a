/** Values over time, drawn by uPlot in the colours of the theme. */
import { useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import { useTheme } from "../theme";

export interface Series {
  name: string;
  values: (number | null)[];
  /** Filled below, for values that are parts of a whole. */
  filled?: boolean;
  /** A colour of the theme, for what has one of its own elsewhere. */
  colour?: string;
}

interface Props {
  label: string;
  /** Seconds. */
  times: number[];
  series: Series[];
  show: (value: number | null) => string;
  /** The largest value if it is known beforehand, as for shares. */
  top?: number;
  height?: number;
}

export function Chart({ label, times, series, show, top, height = 150 }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const theme = useTheme();
  const names = series.map((one) => one.name).join("\n");
  const [pointed, setPointed] = useState<number | null>(null);
  const valueOf = (one: Series) => one.values[pointed ?? one.values.length - 1] ?? null;

  useEffect(() => {
    const element = host.current!;
    const options = { ...chartOptions(series, show, top, element.clientWidth, height), hooks: { setCursor: [(drawn: uPlot) => setPointed(drawn.cursor.idx ?? null)] } };
    plot.current = new uPlot(options, [times, ...series.map((one) => one.values)] as uPlot.AlignedData, element);
    const observer = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [theme, names, height, top]);

  useEffect(() => {
    plot.current?.setData([times, ...series.map((one) => one.values)] as uPlot.AlignedData);
  }, [times, series]);

  return (
    <figure className="chart" aria-label={`${label}: ${series.map((one) => `${one.name} ${show(one.values.at(-1) ?? null)}`).join(", ")}`}>
      <figcaption>
        <h3>{label}</h3>
        {series.map((one, index) => (
          <span key={one.name} className="key" style={{ "--colour": `var(${colourOf(one, index)})` } as React.CSSProperties}>
            {one.name} <b>{show(valueOf(one))}</b>
          </span>
        ))}
        {pointed !== null && times[pointed] !== undefined && <span className="key at">{clockText(times[pointed])}</span>}
      </figcaption>
      <div ref={host} aria-hidden="true" />
    </figure>
  );
}

const colourOf = (one: Series, index: number) => one.colour ?? `--series-${index + 1}`;

function chartOptions(series: Series[], show: Props["show"], top: number | undefined, width: number, height: number): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour("--muted"),
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
    font: `11px ${colour("--sans")}`,
  };
  return {
    width,
    height,
    legend: { show: false },
    cursor: { points: { size: 6 }, drag: { x: false, y: false } },
    padding: [8, 28, 0, 0],
    scales: {
      x: { range: (_, from, until) => timeRange(from, until) },
      // What is nothing all the time lies at the bottom of a scale of its own.
      y: { range: (_, low, high) => [Math.min(0, low ?? 0), top ?? (high ? high * 1.1 : 1)] },
    },
    axes: [
      { ...axis, grid: { show: false }, size: 24, space: 70, values: (_, times) => times.map(clockText) },
      { ...axis, size: 58, space: 34, values: (_, values) => values.map(show) },
    ],
    series: [
      {},
      ...series.map((one, index) => ({
        label: one.name,
        stroke: colour(colourOf(one, index)),
        width: 1.6,
        ...(one.filled ? { fill: `${colour(colourOf(one, index))}22` } : {}),
        points: { show: false },
      })),
    ],
  };
}

/** At least a minute: a chart that has just begun does not look as if everything were moving. */
function timeRange(from: number | null, until: number | null): [number, number] {
  const end = until ?? Date.now() / 1000;
  return [Math.min(from ?? end, end - 60), end];
}

function clockText(seconds: number): string {
  return new Date(seconds * 1000).toLocaleTimeString("en-GB");
}
