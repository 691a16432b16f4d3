// The caller's credentials: a bearer token that is kept for this tab alone, or a cookie that the browser keeps.

import { button, element, field, sentence } from "./elements.js";

const key = "token";
const listeners = [];

/** Returns the token with which requests are sent; null when there is none. */
export const token = () => sessionStorage.getItem(key);

/** Calls a function now and whenever the token changes. */
export function onTokenChange(listener) {
  listeners.push(listener);
  listener();
}

/** Uses another token; null forgets it. */
export function use(token) {
  if (token) sessionStorage.setItem(key, token);
  else sessionStorage.removeItem(key);
  for (const listener of listeners) listener();
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

/** Returns the panel in which a caller signs in. */
export function sessionPanel(description, link) {
  const { scheme } = description;
  const notes = element("p", {}, sentence(scheme.description ?? "", link));
  if (scheme.type !== "http") {
    return element("section", { id: "session", class: "panel", "aria-labelledby": "session-title" },
      element("h2", { id: "session-title" }, "Session"), notes,
      element("p", {}, "The browser keeps the cookie by itself, and sends it with every request. All tabs share it."));
  }
  const input = element("input", { type: "password", autocomplete: "off", spellcheck: "false" });
  const state = element("p", { id: "session-state", role: "status" });
  const forget = button("Forget the token", () => use(null));
  const form = element("form", {
    class: "row", onsubmit: (event) => {
      event.preventDefault();
      use(input.value.trim().replace(/^Bearer\s+/i, "") || null);
      input.value = "";
    },
  }, field("Bearer token", input), element("button", { type: "submit" }, "Use this token"), forget);
  onTokenChange(() => {
    const now = token();
    state.textContent = now
      ? `Requests are sent with the token …${now.slice(-6)}. It is kept in this tab and forgotten with it.`
      : "Requests are sent without a token.";
    forget.disabled = !now;
  });
  return element("section", { id: "session", class: "panel", "aria-labelledby": "session-title" },
    element("h2", { id: "session-title" }, "Session"), notes, state, form);
}
