/** The job over its last epochs: how many records, how long, and on what the time went. */
import { useLive } from "../api/live";
import type { Epoch, Job } from "../api/types";
import * as format from "../format";
import { Chart } from "../ui/chart";
import { Card, Notice } from "../ui/parts";
import { Table, type Column } from "../ui/table";

const LAST = 200;

export function MetricsTab({ job }: { job: Job }) {
  const { data, refused } = useLive<{ epochs: Epoch[] }>(`/penstock/v1/jobs/${job.jid}/epochs?last=${LAST}`);
  if (refused) return <Notice title={refused.message} />;
  if (data === undefined) return null;
  if (data.epochs.length === 0) return <Notice title="No epoch is complete yet" />;
  const epochs = [...data.epochs].sort((one, other) => one.number - other.number);
  const times = epochs.map((epoch) => epoch["completed-at"] / 1000);
  const phases = Object.keys(epochs.at(-1)!.phases);
  return (
    <div className="stack">
      <div className="columns">
        <Card pad>
          <Chart label="Records per second" times={times} series={[{ name: "read", values: rates(epochs), filled: true }]} show={format.rate} />
        </Card>
        <Card pad>
          <Chart label="Duration of an epoch" times={times} series={[{ name: "total", values: epochs.map((e) => e.duration) }]} show={format.duration} />
        </Card>
        <Card pad>
          <Chart label="Records of an epoch" times={times} series={[{ name: "records", values: epochs.map((e) => e.records) }]} show={format.compact} />
        </Card>
        {phases.length > 0 && (
          <Card pad>
            <Chart
              label="Phases"
              times={times}
              series={longest(phases, epochs).map((phase) => ({ name: phase, values: epochs.map((e) => e.phases[phase] ?? null) }))}
              show={format.duration}
            />
          </Card>
        )}
      </div>
      <Card title="Epochs">
        <Table label="Epochs" rows={epochs.toReversed()} columns={columns(phases)} id={(epoch) => epoch.number} most={25} />
      </Card>
    </div>
  );
}

/** Those on which most of the time goes: more lines than that nobody can tell apart. */
function longest(phases: string[], epochs: Epoch[]): string[] {
  const spent = (phase: string) => epochs.reduce((sum, epoch) => sum + (epoch.phases[phase] ?? 0), 0);
  const most = phases.toSorted((one, other) => spent(other) - spent(one)).slice(0, 4);
  return phases.filter((phase) => most.includes(phase));
}

const SMOOTH_MS = 2000;

/** Between the ends of epochs, which is what arrives: an epoch's own duration leaves out its pauses, and several run at once.

 Ends that are close to each other say nothing about a rate, so that two seconds count at least.
 */
function rates(epochs: Epoch[]): (number | null)[] {
  let first = 0;
  let read = 0;
  return epochs.map((epoch, index) => {
    read += index === 0 ? 0 : epoch.records;
    while (first + 1 < index && epoch["completed-at"] - epochs[first + 1]!["completed-at"] >= SMOOTH_MS) read -= epochs[++first]!.records;
    const took = epoch["completed-at"] - epochs[first]!["completed-at"];
    return took > 0 ? (read / took) * 1000 : null;
  });
}

function columns(phases: string[]): Column<Epoch>[] {
  return [
    { title: "Epoch", wide: true, by: (e) => e.number, show: (e) => <b>{e.number}</b> },
    { title: "Completed", number: true, by: (e) => e["completed-at"], show: (e) => format.moment(e["completed-at"]) },
    { title: "Records", number: true, by: (e) => e.records, show: (e) => format.count(e.records) },
    { title: "Duration", number: true, by: (e) => e.duration, show: (e) => format.duration(e.duration) },
    ...phases.map((phase) => ({
      title: phase.charAt(0).toUpperCase() + phase.slice(1),
      number: true,
      by: (e: Epoch) => e.phases[phase],
      show: (e: Epoch) => format.duration(e.phases[phase]),
    })),
    { title: "State changes", number: true, by: (e) => e.bytes, show: (e) => format.bytes(e.bytes) },
  ];
}
