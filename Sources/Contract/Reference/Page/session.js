// The caller's credentials: a bearer token that is kept for this tab alone, or a cookie that the browser keeps. And the
// name under which the caller has signed in, as far as this tab knows it.

const listeners = [];
const byID = (id) => document.getElementById(id);

/** Returns the token with which requests are sent; null when there is none. */
export const token = () => sessionStorage.getItem("token");

/** Calls a function now and whenever the token changes. */
export function onTokenChange(listener) {
  listeners.push(listener);
  listener();
}

function keep(key, value) {
  if (value) sessionStorage.setItem(key, value);
  else sessionStorage.removeItem(key);
}

/** Uses another token; null forgets it. */
export function use(token, name = null) {
  keep("token", token);
  keep("name", token ? name : null);
  for (const listener of listeners) listener();
  showState();
}

/** Returns the access token in an answer: a member `access_token` or `accessToken`, at any depth. */
export function tokenIn(value) {
  if (typeof value !== "object" || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    if (/^access_?token$/i.test(name) && typeof member === "string") return member;
    const found = tokenIn(member);
    if (found) return found;
  }
  return null;
}

/** Returns the name with which a request signs in: its user name or e-mail address. */
export function nameIn(request) {
  try {
    const { username, email } = JSON.parse(request.text);
    return [username, email].find((name) => typeof name === "string") ?? null;
  } catch { return null; }
}

/** Follows what an answer says about the session: it has begun or ended, or the server knows none. */
export function follow(operation, request, response) {
  const isCookie = request.scheme.type !== "http";
  if (response.ok && /^(log|sign)out$|^delete(me|account|user)$/i.test(operation.id)) return use(null);
  if (isCookie && response.ok && operation.isOpen && /^(login|register)$/i.test(operation.id)) {
    keep("name", nameIn(request));
  } else if (isCookie && response.ok && request.needsCaller && !sessionStorage.getItem("name")) {
    keep("name", "the cookie's user");
  } else if (isCookie && response.status === 401 && request.needsCaller) {
    keep("name", null);
  }
  showState();
}

function showState() {
  const now = token();
  const name = sessionStorage.getItem("name");
  byID("who-state").textContent = name ? `Signed in as ${name}` : now ? `Signed in with …${now.slice(-6)}` : "Not signed in";
  const forget = byID("session-forget");
  if (!forget) return;
  forget.disabled = !now;
  byID("session-state").textContent = now
    ? `Requests are sent with the token …${now.slice(-6)}. It is kept in this tab and forgotten with it.`
    : "Requests are sent without a token.";
}

/** Makes the panel work, which the page has from the beginning. */
export function startSession() {
  byID("session-forget")?.addEventListener("click", () => use(null));
  byID("session-form")?.addEventListener("submit", (event) => {
    event.preventDefault();
    const input = byID("session-token");
    use(input.value.trim().replace(/^Bearer\s+/i, "") || null);
    input.value = "";
  });
  showState();
}
