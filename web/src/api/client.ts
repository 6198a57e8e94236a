/** Requests to the manager that served this page. The token goes along; errors carry the manager's own sentence. */

const KEPT_AS = "penstock.token";

/** The manager answered, and its answer is no. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Nobody answered. */
export class Unreachable extends Error {}

/** A token in the fragment (`#token=...` or `#/jobs?token=...`) is kept for this tab and leaves the address bar. */
export function takeTokenFromAddress(): void {
  const found = /[#?&]token=([^&]*)/.exec(location.hash);
  if (found?.[1] === undefined) return;
  setToken(decodeURIComponent(found[1]));
  const rest = location.hash.replace(/([#?&])token=[^&]*&?/, "$1").replace(/[#?&]$/, "");
  history.replaceState(null, "", location.pathname + location.search + rest);
}

export function setToken(token: string): void {
  sessionStorage.setItem(KEPT_AS, token);
}

export const hasToken = () => sessionStorage.getItem(KEPT_AS) !== null;

function headers(): Record<string, string> {
  const token = sessionStorage.getItem(KEPT_AS);
  return token === null ? {} : { Authorization: `Bearer ${token}` };
}

type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

export async function request<T>(method: Method, path: string, body?: object | FormData): Promise<T> {
  const response = await fetchOrUnreachable(method, path, body);
  const text = await response.text().catch(() => {
    throw new Unreachable("the connection broke while the manager answered");
  });
  if (!response.ok) throw new Refused(response.status, sentence(text, response));
  return parse(text) as T;
}

export const get = <T>(path: string) => request<T>("GET", path);

async function fetchOrUnreachable(method: Method, path: string, body?: object | FormData): Promise<Response> {
  const isForm = body instanceof FormData;
  const type: Record<string, string> = body !== undefined && !isForm ? { "Content-Type": "application/json" } : {};
  try {
    const response = await fetch(`.${path}`, {
      method,
      headers: { ...headers(), ...type },
      body: body === undefined ? null : isForm ? body : JSON.stringify(body),
      cache: "no-store",
    });
    // What a proxy says when the manager behind it is away.
    if (response.status === 502 || response.status === 504) throw new Unreachable(response.statusText);
    return response;
  } catch (error) {
    throw error instanceof Unreachable ? error : new Unreachable("the manager does not answer");
  }
}

/** Logs come as text, everything else as JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function sentence(text: string, response: Response): string {
  const body = parse(text) as { errors?: string[] } | string;
  if (typeof body === "object" && body?.errors?.length) return body.errors.join("\n");
  return `${response.status} ${response.statusText}`;
}
