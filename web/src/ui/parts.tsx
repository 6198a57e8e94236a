/** The small things that every page is made of. */
import { useEffect, useRef, type FormEvent, type ReactNode } from "react";
import { share } from "../format";
import type { Level } from "../api/types";

type Tone = "" | "good" | "warn" | "bad" | "accent";

const TONES: Record<string, Tone> = {
  RUNNING: "good",
  FINISHED: "accent",
  COMPLETED: "good",
  FAILED: "bad",
  FAILING: "bad",
  RESTARTING: "warn",
  CANCELLING: "warn",
  CANCELING: "warn",
  SUSPENDED: "warn",
  CREATED: "",
  STARTING: "",
};
const WORDS: Record<string, string> = { CREATED: "Waiting", CANCELED: "Cancelled" };
const MOVING = new Set(["RESTARTING", "CANCELLING", "CANCELING", "FAILING", "INITIALIZING", "IN_PROGRESS", "STARTING"]);

/** The state is a word; its colour only helps. */
export function State({ state }: { state: string }) {
  const word = WORDS[state] ?? sentenceCase(state);
  return <span className={`badge ${TONES[state] ?? ""} ${MOVING.has(state) ? "moving" : ""}`}>{word}</span>;
}

/** Flink has one word for a job that waits for a slot and for one whose driver starts. */
export function JobState({ job }: { job: { state: string; penstock?: { waiting?: string | null } } }) {
  return <State state={job.state === "CREATED" && !job.penstock?.waiting ? "STARTING" : job.state} />;
}

const sentenceCase = (word: string) => word.charAt(0) + word.slice(1).toLowerCase().replaceAll("_", " ");

const PRESSURE: Record<Level, [Tone, string]> = { ok: ["", "OK"], low: ["warn", "Low"], high: ["bad", "High"] };

export function Pressure({ level }: { level: Level | null | undefined }) {
  if (!level || level === "ok") return <span className="muted">{level ? "OK" : "–"}</span>;
  const [tone, word] = PRESSURE[level];
  return <span className={`badge ${tone}`}>{word}</span>;
}

/** Busy, back-pressured and idle as parts of one bar; the numbers are in its label. */
export function LoadBar({ busy, pressed }: { busy: number | null | undefined; pressed: number | null | undefined }) {
  const label = `busy ${share(busy)}, back-pressured ${share(pressed)}`;
  return (
    <div className="bar-of" role="img" aria-label={label} title={label}>
      <div className="busy" style={{ width: `${(busy ?? 0) * 100}%` }} />
      <div className="pressed" style={{ width: `${Math.min(pressed ?? 0, 1 - (busy ?? 0)) * 100}%` }} />
    </div>
  );
}

export function Stats({ items }: { items: [name: string, value: ReactNode, note?: ReactNode][] }) {
  return (
    <dl className="stats">
      {items.map(([name, value, note]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {value}
            {note !== undefined && <small>{note}</small>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

export function Facts({ items }: { items: [string, ReactNode][] }) {
  return (
    <dl className="facts">
      {items.map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name} value`}>{value}</dd>])}
    </dl>
  );
}

interface CardProps {
  title?: ReactNode;
  end?: ReactNode;
  pad?: boolean;
  children: ReactNode;
  label?: string;
}

export function Card({ title, end, pad = false, children, label }: CardProps) {
  return (
    <section className="card" aria-label={label ?? (typeof title === "string" ? title : undefined)}>
      {title !== undefined && (
        <header>
          {typeof title === "string" ? <h2>{title}</h2> : title}
          {end !== undefined && <div className="end">{end}</div>}
        </header>
      )}
      {pad ? <div className="body">{children}</div> : children}
    </section>
  );
}

export function Notice({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="notice">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

interface ChoiceProps<T extends string> {
  label: string;
  options: readonly (readonly [T, string])[];
  value: T;
  onChange: (value: T) => void;
}

export function Choice<T extends string>({ label, options, value, onChange }: ChoiceProps<T>) {
  return (
    <div className="choice" role="group" aria-label={label}>
      {options.map(([name, title]) => (
        <button key={name} type="button" aria-pressed={name === value} onClick={() => onChange(name)}>
          {title}
        </button>
      ))}
    </div>
  );
}

interface DialogProps {
  title: string;
  confirm: string;
  danger?: boolean;
  busy?: boolean;
  error?: string | null;
  onConfirm: (form: FormData) => void;
  onClose: () => void;
  children: ReactNode;
}

/** The browser's own modal dialog: focus stays inside, Escape closes it, focus returns to where it was. */
export function Dialog({ title, confirm, danger, busy, error, onConfirm, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onConfirm(new FormData(event.currentTarget));
  };
  return (
    <dialog ref={dialog} aria-label={title} onClose={onClose}>
      <form onSubmit={submit}>
        <h2>{title}</h2>
        {children}
        {error && (
          <p className="message bad" role="alert">
            {error}
          </p>
        )}
        <div className="buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            Back
          </button>
          <button type="submit" className={`primary ${danger ? "danger" : ""}`} disabled={busy}>
            {busy ? "Working …" : confirm}
          </button>
        </div>
      </form>
    </dialog>
  );
}

export interface Tab {
  name: string;
  title: string;
  address: string;
  number?: number;
  bad?: boolean;
}

/** Tabs are places with addresses, so that they are links. */
export function Tabs({ label, tabs, current }: { label: string; tabs: Tab[]; current: string }) {
  const list = useRef<HTMLElement>(null);
  useEffect(() => {
    // Sideways only: the page stays where it is.
    const link = list.current?.querySelector<HTMLElement>("[aria-current]");
    if (link) list.current!.scrollLeft = link.offsetLeft - list.current!.offsetLeft - 16;
  }, [current]);
  return (
    <nav className="tabs" aria-label={label} ref={list}>
      {tabs.map((tab) => (
        <a key={tab.name} href={tab.address} aria-current={tab.name === current ? "page" : undefined}>
          {tab.title}{" "}
          {tab.number !== undefined && tab.number > 0 && (
            <span className={`number ${tab.bad ? "bad" : ""}`}>{tab.number}</span>
          )}
        </a>
      ))}
    </nav>
  );
}
