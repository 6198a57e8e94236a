/** Whether the keys of an operator are spread evenly, which ones are not, and what to do about it. */
import { useLive } from "../api/live";
import type { Skew } from "../api/types";
import * as format from "../format";
import { Notice } from "../ui/parts";

export function SkewPart({ job, operator }: { job: string; operator: string }) {
  const { data, refused } = useLive<Skew>(`/penstock/v1/jobs/${job}/skew`, 4000);
  if (refused) return <Notice title={refused.message} />;
  if (data === undefined) return null;
  const skew = data.vertices.find((vertex) => vertex.id === operator);
  if (skew === undefined)
    return (
      <Notice title="No keys here">
        <p>Skew is measured at operators behind key_by().</p>
      </Notice>
    );
  const keys = skew["hot-keys"] ?? [];
  return (
    <div className="stack">
      <p className={`message ${skew.skewed ? "warn" : ""}`}>
        {skew.skewed ? "The load is uneven." : "The load is spread evenly enough."} Coefficient of variation{" "}
        {skew.coefficient.toFixed(2)}.
      </p>
      {skew.advice.length > 0 && (
        <ul className="advice">
          {skew.advice.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
      <Spread title="Records by subtask" values={skew.records} show={format.compact} />
      {skew["state-bytes"] && <Spread title="State by subtask" values={skew["state-bytes"]} show={format.bytes} />}
      {keys.length > 0 && (
        <table>
          <caption>
            <h3>Hottest keys</h3>
          </caption>
          <thead>
            <tr>
              <th>Key</th>
              <th className="number">Records</th>
              <th className="number">Share</th>
              <th>
                <span className="visually-hidden">Share as a bar</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {keys.map((key) => (
              <tr key={key.key}>
                <td className="mono">{key.key}</td>
                <td className="number">{format.compact(key.count)}</td>
                <td className="number">{format.share(key.share)}</td>
                <td>
                  <div className="bar-of">
                    <div className="accent" style={{ width: `${key.share * 100}%` }} />
                  </div>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

function Spread({ title, values, show }: { title: string; values: number[]; show: (value: number) => string }) {
  const largest = Math.max(1, ...values);
  return (
    <div>
      <h3>{title}</h3>
      <ol className="spread" start={0}>
        {values.map((value, index) => (
          <li key={index} aria-label={`Subtask ${index}: ${show(value)}`}>
            <span>{index}</span>
            <div className="bar-of">
              <div className="accent" style={{ width: `${(value / largest) * 100}%` }} />
            </div>
            <span>{show(value)}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}
