/** A log that grows: it follows its end until the reader scrolls up. */
import { useLayoutEffect, useRef, useState } from "react";
import { Card, Notice } from "./parts";

export function LogView({ text }: { text: string }) {
  const [wanted, setWanted] = useState("");
  const [follows, setFollows] = useState(true);
  const box = useRef<HTMLPreElement>(null);
  const lines = text.split("\n");
  const shown = wanted === "" ? lines : lines.filter((line) => line.toLowerCase().includes(wanted.toLowerCase()));
  useLayoutEffect(() => {
    if (follows && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text, follows, wanted]);
  const atEnd = (element: HTMLElement) => element.scrollHeight - element.scrollTop - element.clientHeight < 24;
  return (
    <Card
      title="Log"
      end={
        <>
          <input type="search" aria-label="Search in the log" placeholder="Search" value={wanted} onChange={(e) => setWanted(e.target.value)} />
          <button className="plain" disabled={follows} onClick={() => setFollows(true)}>
            {follows ? "Following" : "Follow"}
          </button>
        </>
      }
    >
      {text === "" ? (
        <Notice title="Nothing was written yet" />
      ) : (
        <pre ref={box} className="text log" tabIndex={0} aria-label="Log" onScroll={(e) => setFollows(atEnd(e.currentTarget))}>
          {shown.map((line, index) => (
            <span key={index} className={tone(line)}>
              {line}
              {"\n"}
            </span>
          ))}
        </pre>
      )}
    </Card>
  );
}

function tone(line: string): string | undefined {
  if (/\b(ERROR|CRITICAL|Traceback)\b/.test(line)) return "bad";
  if (/\bWARN(ING)?\b/.test(line)) return "warn";
  return undefined;
}
