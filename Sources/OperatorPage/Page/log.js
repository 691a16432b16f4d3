// One request: the lines of the log that have its id, those of a person's requests, and live lines with filters.

import { button, element } from "../reference/elements.js";
import { get, path } from "./asking.js";
import { a, address, apiOf, choice, code, div, empty, facts, h2, h3, input, li, p, search, searchField, section, show, small, span, strong, viewOf } from "./parts.js";

/** Reads a line of either format: the time, the level, the message, and the fields by their names. */
export function read(text) {
  try {
    const { time, level, message, ...fields } = JSON.parse(text);
    return { time, level, message, fields };
  } catch {
    // It is a line of text.
  }
  const fields = {};
  const rest = text.replace(/ ([\w-]+)=(?:("(?:[^"\\]|\\.)*")|(\S*))/g, (whole, name, quoted, plain) => {
    fields[name] = quoted ? JSON.parse(quoted) : plain;
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
  const { api, method, route, status, microseconds, address: from, trace, request, user } = found.fields;
  const isBad = Number(status) >= 500;
  return section({ class: "panel", "aria-label": "The request" },
    h3(`${method} ${route} `, span({ class: isBad ? "bad" : Number(status) < 400 ? "good" : null }, String(status))),
    facts(["Request", code(request)], ["API", api], ["User", user && a({ href: address(api, user) }, user)],
      ["Took", `${(Number(microseconds) / 1000).toFixed(1)} ms`], ["From", from], ["Trace", trace && code(trace)],
      ["Cause", isBad ? all.map(({ fields }) => fields.error).find(Boolean) : undefined]));
}

function row({ level, text }) {
  const { time, message, fields } = read(text);
  const more = Object.entries(fields).filter(([name]) => name !== "request").map(([name, value]) => `${name}=${value}`).join(" ");
  return li({ class: kind(level) },
    element("time", {}, time.slice(11, 23)), " ", strong(level), " ", message, " ", span({ class: "rest" }, more), " ",
    fields.request && button(fields.request, () => { location.hash = viewOf("log", { text: fields.request }); }, { class: "small", title: "Show the lines of this request" }));
}

/** Shows the lines that `fields` choose: `text` for words such as a request's id, `level`, and `api` with `user` for a person. */
export function logView(place, session, fields) {
  place.append(h2("One request"));
  if (session.role !== "all") {
    place.append(empty("The log has addresses of all people, so it is for the role all. Your link gives the role moderate."));
    return;
  }
  const { text, level, api, user } = fields;
  const live = input({ type: "checkbox", checked: fields.live === "on" });
  const [about, list] = [div(), div()];
  let newest = 0;
  const ask = (after) => get(path("log"), { text, level, api, user, limit: 200, after });
  const load = () => show(list, async () => {
    const found = await ask();
    newest = found.newest;
    about.replaceChildren(text && summary(found.lines) || "");
    if (!found.lines.length) return empty("No line matches. The newest 10,000 lines since the start are here; older ones are where the server's log goes.");
    return element("ol", { class: "log", reversed: true }, found.lines.toReversed().map(row));
  }, load);
  place.append(
    search("log", "Show", { text: ["Lines with", searchField(text, "id of a request, or words")], level: ["Level, at least", choice([["", "all"], ...names.slice(2).map((name) => [name])], level)], live: ["Live", live] }, load, { api, user }),
    p(user ? [`Requests of ${apiOf(session, api).title} `, a({ href: address(api, user) }, user), ". ", a({ href: "#log" }, "Show all lines")]
      : small("An answer has its id in X-Request-Id. The newest lines come first.")), about, list);
  const turn = setInterval(async () => {
    if (!live.checked || document.hidden) return;
    try {
      const found = await ask(newest);
      newest = found.newest;
      if (!found.lines.length) return;
      const lines = list.querySelector(".log");
      if (!lines) return load();
      lines.prepend(...found.lines.toReversed().map(row));
      while (lines.children.length > 1000) lines.lastChild.remove();
    } catch {
      // The page says that the server is away.
    }
  }, 2000);
  load();
  return () => clearInterval(turn);
}
