// One request: the lines of the log that have its id, and live lines with filters.

import { button, element, field } from "../reference/elements.js";
import { get, path } from "./asking.js";
import { empty, facts, show } from "./parts.js";

/** Reads a line of either format: the time, the level, the message, and the fields by their names. */
export function read(text) {
  if (text.startsWith("{")) {
    try {
      const { time, level, message, ...fields } = JSON.parse(text);
      return { time, level, message, fields };
    } catch {
      return { time: "", level: "", message: text, fields: {} };
    }
  }
  const fields = {};
  const rest = text.replace(/ ([\w-]+)=("(?:[^"\\]|\\.)*"|\S*)/g, (whole, name, value) => {
    try {
      fields[name] = value.startsWith('"') ? JSON.parse(value) : value;
    } catch {
      fields[name] = value;
    }
    return "";
  });
  const [time, level, ...words] = rest.split(" ");
  return { time, level, message: words.join(" "), fields };
}

const names = ["trace", "debug", "info", "notice", "warning", "error", "critical"];
const kind = (level) => names.indexOf(level) >= 5 ? "bad" : level === "warning" ? "odd" : "";

/** Returns what is known of a request from its lines; null for lines of several requests. */
function summary(lines) {
  const all = lines.map(({ text }) => read(text));
  const found = all.find(({ message, fields }) => message === "request" && fields.status);
  if (!found || all.some(({ fields }) => fields.request && fields.request !== found.fields.request)) return null;
  const { api, method, route, status, microseconds, address, trace, request } = found.fields;
  const isBad = Number(status) >= 500;
  return element("section", { class: "panel", "aria-label": "The request" },
    element("h3", {}, `${method} ${route} `, element("span", { class: isBad ? "bad" : "good" }, String(status))),
    facts(["Request", element("code", {}, request)], ["API", api], ["Took", `${(Number(microseconds) / 1000).toFixed(1)} ms`], ["From", address],
      ["Trace", trace ? element("code", {}, trace) : undefined],
      ["Cause", isBad ? all.map(({ fields }) => fields.error).find(Boolean) : undefined]));
}

function row({ number, level, text }, choose) {
  const { time, message, fields } = read(text);
  const more = Object.entries(fields).filter(([name]) => name !== "request").map(([name, value]) => `${name}=${value}`).join(" ");
  return element("li", { "data-number": number, class: kind(level) },
    element("time", {}, time.slice(11, 23)), " ", element("strong", {}, level), " ", message, " ", element("span", { class: "rest" }, more), " ",
    fields.request && button(fields.request, () => choose(fields.request), { class: "small", title: "Show the lines of this request" }));
}

/** Shows the lines that `fields` choose: `text` for words such as a request's id, and `level`. */
export function logView(place, session, fields) {
  place.append(element("h2", { class: "first" }, "One request"));
  if (session.role !== "all") {
    place.append(empty("The log has addresses of all people, so it is for the role all. Your link gives the role moderate."));
    return;
  }
  const text = element("input", { type: "search", value: fields.text ?? "", autocomplete: "off", spellcheck: "false", placeholder: "id of a request, or words" });
  const level = element("select", {}, element("option", { value: "" }, "all"), names.slice(2).map((name) => element("option", {}, name)));
  level.value = fields.level ?? "";
  const live = element("input", { type: "checkbox" });
  const [about, list] = [element("div"), element("div")];
  const form = element("form", { role: "search", class: "row" }, field("Lines with", text), field("Level, at least", level), field("Live", live), element("button", { type: "submit", class: "primary" }, "Show"));
  place.append(form, element("p", {}, element("small", {}, "An answer has its id in X-Request-Id. The newest lines come first.")), about, list);
  const choose = (id) => { location.hash = `#log?${new URLSearchParams({ text: id })}`; };
  let newest = 0;
  const ask = (after) => get(path("log"), { text: text.value.trim(), level: level.value, limit: 200, after });
  const load = () => show(list, async () => {
    const found = await ask();
    newest = found.newest;
    about.replaceChildren(...text.value.trim() ? [summary(found.lines)].filter(Boolean) : []);
    if (!found.lines.length) return empty("No line matches. The newest 10,000 lines since the start are here; older ones are where the server's log goes.");
    return element("ol", { class: "log", reversed: true }, found.lines.toReversed().map((line) => row(line, choose)));
  }, load);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const query = new URLSearchParams({ ...text.value.trim() && { text: text.value.trim() }, ...level.value && { level: level.value } });
    history.replaceState(null, "", `#log?${query}`);
    load();
  });
  const turn = setInterval(async () => {
    if (!live.checked || document.hidden) return;
    try {
      const found = await ask(newest);
      newest = found.newest;
      if (!found.lines.length) return;
      const lines = list.querySelector(".log");
      if (!lines) return load();
      lines.prepend(...found.lines.toReversed().map((line) => row(line, choose)));
      while (lines.children.length > 1000) lines.lastChild.remove();
    } catch {
      // The page says that the server is away.
    }
  }, 2000);
  load();
  return () => clearInterval(turn);
}
