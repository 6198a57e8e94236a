/** What the driver and the program wrote. Only what is new is fetched. */
import { useEffect, useState } from "react";
import { useLive } from "../api/live";
import type { Job, LogPiece } from "../api/types";
import { LogView } from "../ui/log-view";
import { Notice } from "../ui/parts";

const FIRST_BYTES = 131_072;
const MOST_CHARACTERS = 2_000_000;

export function JobLogTab({ job }: { job: Job }) {
  const [text, setText] = useState<string>();
  const [offset, setOffset] = useState<number>();
  const query = offset === undefined ? `tail=${FIRST_BYTES}` : `from=${offset}`;
  const { data, refused } = useLive<LogPiece>(`/penstock/v1/jobs/${job.jid}/log?${query}`, 1500);
  useEffect(() => {
    // The answer for an earlier offset may still be here when the offset has moved on: its end tells.
    if (data === undefined || data.offset === offset) return;
    setText((old) => ((old ?? "") + data.text).slice(-MOST_CHARACTERS));
    setOffset(data.offset);
  }, [data]);
  if (refused) return <Notice title={refused.message} />;
  return text === undefined ? null : <LogView text={text} />;
}
