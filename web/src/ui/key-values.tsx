/** Settings by name, with a field that narrows them down. */
import { useState } from "react";
import type { KeyValue } from "../api/types";
import { Card, Notice } from "./parts";

export function KeyValues({ label, items }: { label: string; items: KeyValue[] }) {
  const [wanted, setWanted] = useState("");
  const shown = items.toSorted((one, other) => one.key.localeCompare(other.key)).filter((item) => `${item.key} ${item.value}`.toLowerCase().includes(wanted.toLowerCase()));
  return (
    <Card
      title={label}
      end={items.length > 0 ? <input type="search" aria-label={`Search in: ${label}`} placeholder="Search" value={wanted} onChange={(e) => setWanted(e.target.value)} /> : undefined}
    >
      {shown.length === 0 ? (
        <Notice title={items.length === 0 ? "Nothing is set" : "Nothing matches"} />
      ) : (
        <table className="tall">
          <caption className="visually-hidden">{label}</caption>
          <tbody>
            {shown.map((item) => (
              <tr key={item.key}>
                <td className="mono wide muted" style={{ overflowWrap: "anywhere" }}>
                  {item.key}
                </td>
                <td className="mono wide" style={{ overflowWrap: "anywhere" }}>
                  {item.value}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  );
}
