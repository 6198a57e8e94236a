/** A program, what it is started with, and off it goes. */
import { useState, type FormEvent } from "react";
import { request } from "../api/client";
import { refresh } from "../api/live";
import { go, to } from "../route";
import * as format from "../format";
import { Card } from "../ui/parts";
import { UploadedPrograms, type Program } from "./uploaded";

export function SubmitPage() {
  const [error, setError] = useState<string | null>(null);
  const [isSending, setSending] = useState(false);
  const [uploaded, setUploaded] = useState<Program | null>(null);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setSending(true);
    setError(null);
    try {
      const { jobid } = await request<{ jobid: string }>("POST", "/penstock/v1/jobs", fields(event.currentTarget));
      refresh();
      go(to("jobs", jobid));
    } catch (problem) {
      setError((problem as Error).message);
      setSending(false);
    }
  };
  return (
    <div className="stack" style={{ maxWidth: 720 }}>
      <h1>Submit a program</h1>
      <UploadedPrograms
        onUse={(program) => {
          setUploaded(program);
          setError(null);
        }}
        onRemoved={(program) => setUploaded((chosen) => (chosen?.id === program.id ? null : chosen))}
      />
      <Card>
        <form className="submit" onSubmit={submit}>
          {uploaded === null ? (
            <label className="field">
              Program
              <input type="file" name="file" accept=".py,.zip" required />
              <small>A Python file, or a zip with its modules and, if needed, a requirements.txt.</small>
            </label>
          ) : (
            <div className="field" role="group" aria-label="Program">
              Program
              <div style={{ display: "flex", alignItems: "center", gap: 10, flexWrap: "wrap", fontWeight: 400 }}>
                <span style={{ overflowWrap: "anywhere" }}>
                  <b>{uploaded.name}</b>, uploaded {format.moment(uploaded.uploaded)}
                </span>
                <button type="button" onClick={() => setUploaded(null)}>
                  Another file
                </button>
              </div>
              <input type="hidden" name="program" value={uploaded.id} />
            </div>
          )}
          <label className="field">
            Entry
            <input name="entry" placeholder="job.py" />
            <small>The script to start, if a zip holds several.</small>
          </label>
          <label className="field">
            Arguments
            <input name="args" className="mono" placeholder="--input /data/views --day 2026-11-16" />
            <small>As on a command line; quotes keep spaces together.</small>
          </label>
          <div className="columns">
            <label className="field">
              Name
              <input name="name" placeholder="as the program says" />
            </label>
            <label className="field">
              Parallelism
              <input name="parallelism" type="number" min="1" placeholder="as the program says" />
            </label>
          </div>
          <label className="field">
            Start from a savepoint
            <input name="savepoint" className="mono" placeholder="/savepoints/savepoint-1a2b3c-…" />
          </label>
          <label className="field">
            Options
            <textarea name="configuration" className="mono" rows={2} placeholder="execution.checkpointing.interval: 30 s" spellCheck={false} />
            <small>One in each line, as after -D on a command line or in a configuration file.</small>
          </label>
          <label className="check">
            <input type="checkbox" name="allow-non-restored-state" /> The savepoint may hold state that the program no longer has
          </label>
          <label className="check">
            <input type="checkbox" name="pyflink" /> The program imports <code>pyflink</code>
          </label>
          {error && (
            <p className="message bad" role="alert">
              {error}
            </p>
          )}
          <button className="primary" disabled={isSending} style={{ justifySelf: "start" }}>
            {isSending ? "Sending …" : "Submit"}
          </button>
        </form>
      </Card>
    </div>
  );
}

/** Only what was filled in; arguments become a list, checks become `true`. */
function fields(form: HTMLFormElement): FormData {
  const sent = new FormData();
  for (const [name, value] of new FormData(form)) {
    if (value === "") continue;
    if (name === "args") sent.append(name, JSON.stringify(splitArguments(String(value))));
    else if (name === "configuration") sent.append(name, JSON.stringify(options(String(value))));
    else if (value === "on") sent.append(name, "true");
    else sent.append(name, value);
  }
  return sent;
}

/** `key: value` or `key=value`; whichever separator comes first. */
function options(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const line of text.split("\n").map((each) => each.trim())) {
    if (line === "" || line.startsWith("#")) continue;
    const parts = /^([^\s:=]+)\s*(?:=|:)\s*(.*)$/.exec(line);
    if (parts === null) throw new Error(`This is no option: ${line}. Write key: value`);
    found[parts[1]!] = parts[2]!;
  }
  return found;
}

export function splitArguments(line: string): string[] {
  const words = line.match(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g) ?? [];
  return words.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, (_, double, single) => double ?? single));
}
