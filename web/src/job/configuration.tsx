/** What the job was started with. */
import { useLive } from "../api/live";
import type { Job, KeyValue } from "../api/types";
import { KeyValues } from "../ui/key-values";
import { Card, Facts, Notice } from "../ui/parts";

interface JobConfig {
  "execution-config"?: Record<string, unknown> & { "user-config"?: Record<string, string> };
  penstock?: { configuration?: Record<string, string>; arguments?: string[] };
}

export function ConfigurationTab({ job }: { job: Job }) {
  const { data, refused } = useLive<JobConfig>(`/jobs/${job.jid}/config`, 15_000);
  if (refused) return <Notice title={refused.message} />;
  if (data === undefined) return null;
  const { "user-config": parameters = {}, ...execution } = data["execution-config"] ?? {};
  const options = data.penstock?.configuration;
  return (
    <div className="stack">
      <Card title="Execution" pad>
        <Facts items={Object.entries(execution).map(([name, value]) => [words(name), String(value ?? "–")])} />
      </Card>
      {options && <KeyValues label="Options" items={list(options)} />}
      <KeyValues label="Global job parameters" items={list(parameters)} />
    </div>
  );
}

const words = (name: string) => name.replaceAll("-", " ").replace(/^./, (letter) => letter.toUpperCase());
const list = (values: Record<string, unknown>): KeyValue[] =>
  Object.entries(values).map(([key, value]) => ({ key, value: String(value) }));
