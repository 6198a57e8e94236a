/** Numbers as people read them: three significant digits, units, no more. */

const NONE = "–";
type Maybe = number | null | undefined;
const known = (value: Maybe): value is number => value !== null && value !== undefined && Number.isFinite(value);

const whole = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

export const count = (value: Maybe) => (known(value) ? whole.format(value) : NONE);
const tiny = new Intl.NumberFormat("en", { maximumSignificantDigits: 2 });

/** `k` for thousands, as in all units. */
export function compact(value: Maybe): string {
  if (!known(value)) return NONE;
  return Math.abs(value) < 1 ? tiny.format(value) : short.format(value).replace("K", "k");
}

/** `3 of 4` */
export const part = (done: Maybe, all: Maybe) => (known(all) ? `${count(done)} of ${count(all)}` : NONE);

export function rate(perSecond: Maybe): string {
  return known(perSecond) ? `${compact(perSecond < 0.005 ? 0 : perSecond)}/s` : NONE;
}

export function share(part: Maybe): string {
  if (!known(part)) return NONE;
  const percent = part * 100;
  return percent > 0 && percent < 1 ? "<1 %" : `${Math.round(percent)} %`;
}

export function bytes(value: Maybe): string {
  if (!known(value)) return NONE;
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? value : Number(value.toPrecision(3))} ${units[unit]}`;
}

/** `840 ms`, `4.2 s`, `3 min 20 s`, `5 h 2 min`, `3 d 4 h`. */
export function duration(ms: Maybe): string {
  if (!known(ms) || ms < 0) return NONE;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return pair(Math.floor(seconds / 60), "min", seconds % 60, "s");
  if (seconds < 86_400) return pair(Math.floor(seconds / 3600), "h", Math.floor((seconds % 3600) / 60), "min");
  return pair(Math.floor(seconds / 86_400), "d", Math.floor((seconds % 86_400) / 3600), "h");
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

/** The day is said only when it is not today. */
export function moment(ms: Maybe): string {
  if (!known(ms) || ms <= 0) return NONE;
  const date = new Date(ms);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? clock.format(date) : `${day.format(date)} ${clock.format(date)}`;
}

/** Event times may be far from now, so that the whole date is said; the ends of time are words. */
export function watermark(ms: Maybe): string {
  if (!known(ms) || ms <= -9_000_000_000_000_000) return "none yet";
  if (ms >= 9_000_000_000_000_000) return "end of input";
  return new Date(ms).toISOString().replace("T", " ").replace("Z", "");
}
