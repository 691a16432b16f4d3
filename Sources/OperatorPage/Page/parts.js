// What the views have in common: states, times, sizes, forms, and the question before something is done.

import { button, element, field } from "../reference/elements.js";

const tag = (name) => (first, ...others) => first?.constructor === Object ? element(name, first, ...others) : element(name, {}, first, ...others);

/** Make elements, with attributes or without: `p("text")`, `a({ href }, "text")`. */
export const [a, code, div, h2, h3, input, li, p, section, small, span, strong, ul] =
  ["a", "code", "div", "h2", "h3", "input", "li", "p", "section", "small", "span", "strong", "ul"].map(tag);

const newest = new WeakMap();

/**
 * Shows a view's content in a place as soon as it is there, and until then and without it says what is going on. What was asked for
 * earlier, and comes later, is not shown.
 */
export async function show(place, make, again = () => show(place, make, again)) {
  newest.set(place, make);
  place.setAttribute("aria-busy", "true");
  if (!place.hasChildNodes()) place.replaceChildren(p({ role: "status" }, "Loading …"));
  try {
    const content = await make();
    if (newest.get(place) !== make) return;
    place.replaceChildren(...[content].flat(Infinity).filter(Boolean));
  } catch (error) {
    if (newest.get(place) !== make) return;
    place.replaceChildren(div({ role: "alert", class: "panel problem" },
      p(strong("This cannot be shown. "), error.message), button("Try again", again)));
  }
  place.removeAttribute("aria-busy");
}

/** Returns what stands in the place of an empty list: what that means, and what to do next. */
export const empty = (text, ...next) => div({ class: "panel empty" }, p(text), next);

/** Returns a part of a view with a heading. */
export const panel = (title, ...children) => section({ class: "panel", "aria-label": title }, h2(title), children);

/** Returns a row of buttons for what can be done. */
export const acts = (...buttons) => div({ class: "row acts", role: "group", "aria-label": "What can be done" }, buttons);

const units = [["year", 31536000], ["month", 2592000], ["day", 86400], ["hour", 3600], ["minute", 60]];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "always" });

/** Returns the words for a time ago or ahead, such as "3 hours ago". */
export function ago(text) {
  const seconds = (Date.parse(text) - Date.now()) / 1000;
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? [];
  return unit ? relative.format(Math.trunc(seconds / size), unit) : seconds > 0 ? "within a minute" : "just now";
}

/** Returns a time: how long ago it is, with the time itself behind it. */
export const time = (text, otherwise = "not known") => text ? element("time", { datetime: text, title: text }, ago(text)) : otherwise;

/** Returns a size such as 12.3 MB. */
export function size(bytes) {
  const names = ["bytes", "kB", "MB", "GB", "TB"];
  const step = bytes < 1000 ? 0 : Math.min(4, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** step).toFixed(step ? 1 : 0)} ${names[step]}`;
}

export const count = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

/** Returns pairs of a name and a value; pairs without a value are left out. */
export const facts = (...pairs) => element("dl", { class: "facts" }, pairs.filter((pair) => pair?.[1] !== undefined)
  .map(([name, ...value]) => div(element("dt", {}, name), element("dd", {}, value))));

/** Returns what the session says of an API: its title, and what it has. */
export const apiOf = (session, name) => session.apis.find((api) => api.name === name) ?? { title: name };

/** Returns the address of a person's card. */
export const address = (api, id) => `#person/${encodeURIComponent(api)}/${encodeURIComponent(id)}`;

/** Returns the address of a view with fields, of which those without a value are left out. */
export const viewOf = (name, fields) => `#${name}?${new URLSearchParams(Object.entries(fields).filter(([, value]) => value))}`;

// MARK: Messages

let messages;
let stays = false;

/** Takes away what was said, unless it was said on the way to another view. */
export function hush() {
  if (!stays) messages?.replaceChildren();
  stays = false;
}

/** Says something below the header, where screen readers hear it too. */
export function say(text, isBad = false, isForNextView = false) {
  stays = isForNextView;
  messages ??= document.body.insertBefore(div({ id: "said", role: "status" }), document.getElementById("view"));
  messages.replaceChildren(p({ class: isBad ? "bad" : "good" }, text,
    " ", button("Close", () => messages.replaceChildren(), { class: "small" })));
}

// MARK: Forms

/** Returns a choice between values, each with its name for people if that is another. */
export function choice(options, chosen = "") {
  const select = element("select", {}, options.map(([value, name = value]) => element("option", { value }, name)));
  select.value = chosen;
  return select;
}

export const searchField = (text = "", placeholder) => input({ type: "search", value: text, autocomplete: "off", spellcheck: "false", placeholder });

/** Returns the form of a view whose address has what was chosen, and `kept`. `controls` are pairs of a label and a control by the names of fields. */
export function search(view, action, controls, again, kept = {}) {
  const form = element("form", { role: "search", class: "row" },
    Object.values(controls).map(([label, control]) => field(label, control)), element("button", { type: "submit", class: "primary" }, action));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const chosen = Object.entries(controls).map(([name, [, control]]) => [name, control.type === "checkbox" ? control.checked && "on" : control.value.trim()]);
    const next = viewOf(view, { ...kept, ...Object.fromEntries(chosen) });
    if (location.hash === next) again();
    else location.hash = next;
  });
  return form;
}

/** Returns the choice of a suspension's end, with `value()` in the API's form. */
export function until() {
  const days = choice([["1", "1 day"], ["7", "7 days"], ["30", "30 days"], ["0", "until it is lifted"]], "7");
  const value = () => days.value === "0" ? undefined : new Date(Date.now() + days.value * 86400000).toISOString().replace(/\.\d+/, "");
  return { node: field("Suspended for", days), value };
}

/** Opens a dialog, which is gone when it is closed. */
function open(title, content, onclose) {
  const dialog = element("dialog", { "aria-labelledby": "question", onclose: () => { dialog.remove(); onclose?.(); } }, content(h2({ id: "question" }, title), () => dialog.close()));
  document.body.append(dialog);
  dialog.showModal();
}

/** Shows a secret with a button that copies it, until the operator is done with it. */
export function showSecret(title, text, explanation) {
  const shown = input({ type: "text", readonly: true, value: text });
  const copy = button("Copy", () => {
    shown.select();
    // Browsers have no clipboard on plain HTTP from another machine: the selection can be copied by hand.
    navigator.clipboard?.writeText(text).catch(() => {});
  });
  open(title, (heading, close) => [heading, field("It is shown once", shown), p(explanation), div({ class: "row" }, copy, button("Done", close, { class: "primary" }))]);
}

/**
 * Asks before something is done, and does it. The title names the person. `fields` are nodes; `act` gets the reason, and what it
 * throws is shown while the question stays. Returns whether it was done.
 */
export function confirm({ title, explanation, action, reason, fields = [], isFinal, word, act }) {
  return new Promise((resolve) => {
    const isRequired = reason === "required";
    const why = reason && element("textarea", { rows: 2, maxlength: 300, required: isRequired });
    const typed = word && input({ type: "text", required: true, autocomplete: "off", spellcheck: "false" });
    const problem = p({ role: "alert", class: "bad" });
    const go = element("button", { type: "submit", class: isFinal ? "danger" : "primary" }, action);
    let isDone = false;
    open(title, (heading, close) => {
      const form = element("form", { method: "dialog", novalidate: true }, heading, explanation && p(explanation), fields,
        why && field(isRequired ? "Reason" : "Reason (may be empty)", why, `It is in the audit${isRequired ? "; a person who is suspended reads it" : ""}.`),
        typed && field(`Type ${word} to confirm`, typed), problem,
        div({ class: "row" }, go, button("Cancel", close)));
      const refuse = (words, control) => {
        problem.textContent = words;
        control.focus();
      };
      form.addEventListener("submit", async (event) => {
        event.preventDefault();
        if (typed && typed.value.trim() !== word) return refuse(`That is not ${word}. Nothing was done.`, typed);
        if (why?.required && !why.value.trim()) return refuse("The reason is empty.", why);
        go.disabled = true;
        problem.textContent = "";
        try {
          await act(why ? why.value.trim() : undefined);
          isDone = true;
          close();
        } catch (error) {
          problem.textContent = error.message;
          go.disabled = false;
        }
      });
      return form;
    }, () => resolve(isDone));
    (document.querySelector("dialog :is(input, select, textarea)") ?? go).focus();
  });
}

/** Does something at a button's press, and says what was refused. */
export async function attempt(act) {
  try {
    await act();
  } catch (error) {
    say(error.message, true);
  }
}
