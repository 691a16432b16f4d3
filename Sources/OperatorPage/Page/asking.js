// Asks the API of this port. Paths are relative, so that the page also works below a path of a proxy.

/** A refusal of the server, or the lack of an answer (`status` 0), in words for the operator. */
export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

let noteAway = () => {};
let noteSignedOut = () => {};

/** Says whom to call when the server does not answer (with true, and later with false), and when the session has ended. */
export function listen(away, signedOut) {
  noteAway = away;
  noteSignedOut = signedOut;
}

/** Returns a path below `api/` whose steps are escaped. */
export const path = (...steps) => `api/${steps.map((step) => encodeURIComponent(step)).join("/")}`;

let asked = 0;
let unanswered = 0;

async function ask(method, url, body) {
  const number = ++asked;
  let response;
  try {
    response = await fetch(url, {
      method,
      credentials: "same-origin",
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    unanswered = Math.max(unanswered, number);
    noteAway(true);
    throw new Refusal(0, "The server does not answer. Nothing is known to have been done.");
  }
  // A slow answer to an earlier request says nothing about the server now.
  if (number > unanswered) noteAway(false);
  const text = await response.text();
  let answer = null;
  try {
    answer = text ? JSON.parse(text) : null;
  } catch {
    throw new Refusal(response.status, `The answer of the server cannot be read (${response.status}).`);
  }
  if (response.ok) return answer;
  const refusal = new Refusal(response.status, answer?.error ?? `${response.status} ${response.statusText}`);
  if (response.status === 401 && !url.endsWith("/sign-in")) noteSignedOut(refusal.message);
  throw refusal;
}

/** Returns an answer of GET. Fields that are undefined or empty are left out. */
export function get(url, fields = {}) {
  const query = new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ""));
  return ask("GET", query.size ? `${url}?${query}` : url);
}

export const post = (url, body = {}) => ask("POST", url, body);
