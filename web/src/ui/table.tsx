/** A table that sorts by its headings. On a narrow screen each row becomes a small card (`tall` in the style sheet). */
import { useState, type MouseEvent, type ReactNode } from "react";

export interface Column<Row> {
  title: string;
  show: (row: Row) => ReactNode;
  /** What it sorts by; a column without it does not sort. */
  by?: (row: Row) => number | string | null | undefined;
  number?: boolean;
  /** Takes the whole width of the card, without its heading. */
  wide?: boolean;
  /** A click anywhere in the row opens it; for keyboards there is a button in this cell. */
  opens?: boolean;
}

interface Props<Row> {
  label: string;
  rows: Row[];
  columns: Column<Row>[];
  id: (row: Row) => string | number;
  onOpen?: (row: Row) => void;
  selected?: string | number | undefined;
  most?: number;
}

type Order = { column: number; descending: boolean } | null;

export function Table<Row>({ label, rows, columns, id, onOpen, selected, most = 100 }: Props<Row>) {
  const [order, setOrder] = useState<Order>(null);
  const [all, setAll] = useState(false);
  const ordered = order === null ? rows : sorted(rows, columns[order.column]!, order.descending);
  const shown = all ? ordered : ordered.slice(0, most);
  const open = (event: MouseEvent, row: Row) => {
    event.stopPropagation(); // the row opens, too
    onOpen?.(row);
  };
  return (
    <div className="scroll">
      <table className="tall">
        <caption className="visually-hidden">{label}</caption>
        <thead>
          <tr>
            {columns.map((column, index) => (
              <Heading key={column.title} column={column} index={index} order={order} onOrder={setOrder} />
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr
              key={id(row)}
              data-link={onOpen && ""}
              data-selected={selected !== undefined && selected === id(row) ? "" : undefined}
              onClick={onOpen && (() => onOpen(row))}
            >
              {columns.map((column) => (
                <td
                  key={column.title}
                  data-label={column.title}
                  className={[column.number && "number", column.wide && "wide"].filter(Boolean).join(" ") || undefined}
                >
                  {column.opens && onOpen ? (
                    <button className="opens" aria-expanded={selected === id(row)} onClick={(event) => open(event, row)}>
                      {column.show(row)}
                    </button>
                  ) : (
                    column.show(row)
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < rows.length && (
        <p style={{ padding: 12, textAlign: "center" }}>
          <button className="plain" onClick={() => setAll(true)}>
            Show all {rows.length}
          </button>
        </p>
      )}
    </div>
  );
}

interface HeadingProps<Row> {
  column: Column<Row>;
  index: number;
  order: Order;
  onOrder: (order: Order) => void;
}

function Heading<Row>({ column, index, order, onOrder }: HeadingProps<Row>) {
  const className = column.number ? "number" : undefined;
  if (column.by === undefined) return <th className={className}>{column.title}</th>;
  const mine = order?.column === index ? order : null;
  const next = mine === null ? { column: index, descending: true } : mine.descending ? { ...mine, descending: false } : null;
  return (
    <th className={className} aria-sort={mine === null ? "none" : mine.descending ? "descending" : "ascending"}>
      <button onClick={() => onOrder(next)}>
        {column.title}
        <span aria-hidden="true">{mine === null ? "" : mine.descending ? "↓" : "↑"}</span>
      </button>
    </th>
  );
}

function sorted<Row>(rows: Row[], column: Column<Row>, descending: boolean): Row[] {
  const by = column.by!;
  const sign = descending ? -1 : 1;
  return [...rows].sort((one, other) => {
    const [left, right] = [by(one) ?? -Infinity, by(other) ?? -Infinity];
    return sign * (left < right ? -1 : left > right ? 1 : 0);
  });
}
