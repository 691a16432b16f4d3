// What the views have in common: states, times, sizes, and the question before something is done.

import { button, element, field } from "../reference/elements.js";

/** Shows a view's content in a place as soon as it is there, and until then and without it says what is going on. */
export async function show(place, make, again = () => show(place, make, again)) {
  place.setAttribute("aria-busy", "true");
  if (!place.hasChildNodes()) place.replaceChildren(element("p", { role: "status" }, "Loading …"));
  try {
    place.replaceChildren(...[await make()].flat(Infinity).filter(Boolean));
  } catch (error) {
    place.replaceChildren(element("div", { role: "alert", class: "panel problem" },
      element("p", {}, element("strong", {}, "This cannot be shown. "), error.message), button("Try again", again)));
  }
  place.removeAttribute("aria-busy");
}

/** Returns what stands in the place of an empty list: what that means, and what to do next. */
export const empty = (text, ...next) => element("div", { class: "panel empty" }, element("p", {}, text), next);

const units = [["year", 31536000], ["month", 2592000], ["day", 86400], ["hour", 3600], ["minute", 60]];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "always" });

/** Returns the words for a time ago or ahead, such as "3 hours ago". */
export function ago(text) {
  const seconds = (Date.parse(text) - Date.now()) / 1000;
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? [];
  return unit ? relative.format(Math.trunc(seconds / size), unit) : seconds > 0 ? "within a minute" : "just now";
}

/** Returns a time: how long ago it is, with the time itself behind it. */
export const time = (text) =>
  text ? element("time", { datetime: text, title: text }, ago(text)) : "not known";

/** Returns a size such as 12.3 MB. */
export function size(bytes) {
  const names = ["bytes", "kB", "MB", "GB", "TB"];
  const step = bytes < 1000 ? 0 : Math.min(4, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** step).toFixed(step ? 1 : 0)} ${names[step]}`;
}

export const count = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

/** Returns pairs of a name and a value; pairs without a value are left out. */
export const facts = (...pairs) => element("dl", { class: "facts" }, pairs.filter((pair) => pair?.[1] !== undefined && pair[1] !== null)
  .map(([name, ...value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));

/** Returns the name of an API for people. */
export const titleOf = (session, name) => session.apis.find((api) => api.name === name)?.title ?? name;

let messages;

/** Says something below the header, where screen readers hear it too. */
export function say(text, isBad = false) {
  messages ??= document.body.insertBefore(element("div", { id: "said", role: "status" }), document.getElementById("view"));
  messages.replaceChildren(element("p", { class: isBad ? "bad" : "good" }, text,
    " ", button("Close", () => messages.replaceChildren(), { class: "small" })));
}

export const durations = [["1 day", 1], ["7 days", 7], ["30 days", 30], ["until it is lifted", 0]];

/** Returns the choice of a suspension's end, with `value()` in the API's form. */
export function until() {
  const choice = element("select", {}, durations.map(([name, days]) => element("option", { value: days }, name)));
  choice.value = "7";
  const value = () => {
    const days = Number(choice.value);
    return days ? new Date(Date.now() + days * 86400000).toISOString().replace(/\.\d+/, "") : undefined;
  };
  return { node: field("Suspended for", choice), value };
}

/**
 * Asks before something is done, and does it. The title names the person. `fields` are nodes; `act` gets the reason, and what it
 * throws is shown while the question stays. Returns whether it was done.
 */
export function confirm({ title, explanation, action, reason, fields = [], isFinal, word, act }) {
  return new Promise((resolve) => {
    const why = reason && element("textarea", { rows: 2, maxlength: 300, required: reason === "required" });
    const typed = word && element("input", { type: "text", required: true, autocomplete: "off", spellcheck: "false" });
    const problem = element("p", { role: "alert", class: "bad" });
    const go = element("button", { type: "submit", class: isFinal ? "danger" : "primary" }, action);
    let isDone = false;
    const form = element("form", { method: "dialog", novalidate: true },
      element("h2", { id: "question" }, title), explanation && element("p", {}, explanation), fields,
      why && field(reason === "required" ? "Reason" : "Reason (may be empty)", why,
        reason === "required" ? "It is in the audit; a person who is suspended reads it." : "It is in the audit."),
      typed && field(`Type ${word} to confirm`, typed), problem,
      element("div", { class: "row" }, go, button("Cancel", () => dialog.close())));
    const dialog = element("dialog", { "aria-labelledby": "question", onclose: () => { dialog.remove(); resolve(isDone); } }, form);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (typed && typed.value.trim() !== word) {
        problem.textContent = `That is not ${word}. Nothing was done.`;
        return typed.focus();
      }
      if (why?.required && !why.value.trim()) {
        problem.textContent = "The reason is empty.";
        return why.focus();
      }
      go.disabled = true;
      problem.textContent = "";
      try {
        await act(why ? why.value.trim() : undefined);
        isDone = true;
        dialog.close();
      } catch (error) {
        problem.textContent = error.message;
        go.disabled = false;
      }
    });
    document.body.append(dialog);
    dialog.showModal();
    (form.querySelector("input, select, textarea") ?? go).focus();
  });
}
