// Reports: one queue over all APIs, the oldest first, beside the report that is being read.

import { button, element, field } from "../reference/elements.js";
import { get, path, post } from "./asking.js";
import { ago, confirm, empty, facts, say, show, size, time, titleOf, until } from "./parts.js";
import { address } from "./people.js";

const title = (report) => `${report.api} ${report.id}`;
const isOld = (report) => report.state === "open" && Date.parse(report.created_at) < Date.now() - 20 * 3600000;
const who = (person, api) => person ? element("a", { href: address(api, person.id) }, person.name || person.id) : "a deleted account";

/** Returns the files of a report. Pictures are loaded when they are asked for. */
function files(report) {
  return report.files.map((file, index) => {
    const source = path("reports", report.api, String(report.id), "files", String(index + 1));
    const words = `${file.name} (${file.type}${file.size ? `, ${size(file.size)}` : ""})`;
    if (!file.type.startsWith("image/")) return element("p", {}, element("a", { href: source, download: "" }, `Save ${words}`));
    const place = element("div", { class: "picture" });
    place.append(button(`Show the picture ${words}`, () => {
      const image = element("img", { src: source, alt: "The picture that was reported" });
      image.addEventListener("error", () => place.replaceChildren(element("p", { class: "bad" }, "The picture cannot be shown. "), element("a", { href: source, download: "" }, "Save the file")));
      place.replaceChildren(image);
    }));
    return place;
  });
}

function standing(report) {
  if (report.kind === "person") return "Person";
  const where = { message: "in chat", comment: "on post", entry: "in group" }[report.kind];
  return `${report.kind[0].toUpperCase()}${report.kind.slice(1)} ${report.thing}${where && report.place ? ` ${where} ${report.place}` : ""}`;
}

/** Returns then and now, side by side where there is room. */
const sides = (report) => element("div", { class: "sides" },
  element("section", { "aria-label": "Then" }, element("h3", {}, "Then"), element("blockquote", {}, report.content ?? "Nothing was kept."), files(report)),
  element("section", { "aria-label": "Now" }, element("h3", {}, "Now"),
    element("blockquote", {}, report.present === null || report.present === undefined ? "It is no longer there." : report.present === report.content ? "It is the same." : report.present)));

/** Returns what can be done with an open report, by the keys that do it. */
function acts(report, done) {
  const place = path("reports", report.api, String(report.id));
  const name = report.person?.name || report.person?.id;
  const act = async () => {
    const boxes = [["remove", `Remove the ${report.kind}`, report.kind !== "person"], ["suspend", `Suspend ${name}`, report.person], ["warn", `Warn ${name} by e-mail`, report.person]]
      .filter(([, , isThere]) => isThere).map(([word, label]) => [word, label, element("input", { type: "checkbox" })]);
    const end = until();
    end.node.hidden = true;
    const suspends = boxes.find(([word]) => word === "suspend")?.[2];
    suspends?.addEventListener("change", () => { end.node.hidden = !suspends.checked; });
    const isDone = await confirm({
      title: `Act on report ${title(report)}${name ? ` about ${name}` : ""}`, action: "Act, and close the report", reason: "required", isFinal: true,
      explanation: "All of it is done, or nothing. What is removed cannot be brought back; a suspension can be lifted.",
      fields: [element("fieldset", {}, element("legend", {}, "What is done"), boxes.map(([, label, box]) => field(label, box))), end.node],
      act: (reason) => {
        const chosen = boxes.filter(([, , box]) => box.checked).map(([word]) => word);
        if (!chosen.length) throw new Error("Choose what is done. To close the report without an act, dismiss it.");
        return post(`${place}/act`, { acts: chosen, reason, until: chosen.includes("suspend") ? end.value() : undefined });
      },
    });
    if (isDone) done(`Report ${title(report)} is closed.`);
  };
  const dismiss = async () => {
    const isDone = await confirm({ title: `Dismiss report ${title(report)}?`, explanation: "Nothing is done, and no one hears of it. The report and its copy stay.", action: "Dismiss", reason: "free", act: (reason) => post(`${place}/dismiss`, { reason }) });
    if (isDone) done(`Report ${title(report)} is dismissed.`);
  };
  return { a: ["Act", act, "primary"], d: ["Dismiss", dismiss] };
}

function note(report, done) {
  return async () => {
    const text = element("textarea", { rows: 3, maxlength: 2000, required: true });
    const asked = confirm({ title: `Note on report ${title(report)}`, action: "Add the note", fields: [field("Note", text, "For other operators.")], act: () => post(`${path("reports", report.api, String(report.id))}/notes`, { text: text.value }) });
    text.focus();
    if (await asked) done();
  };
}

/** Shows the queue, and the report that `fields` name. */
export function reportsView(place, session, fields) {
  const [queue, detail] = [element("nav", { id: "queue", "aria-label": "Queue" }), element("article", { id: "report", tabindex: "-1" })];
  const choice = element("select", {}, ["open", "acted", "dismissed", "all"].map((state) => element("option", {}, state)));
  choice.value = fields.state ?? "open";
  place.append(element("h2", { class: "first" }, "Reports"), element("div", { class: "beside" }, element("div", {}, field("Show", choice), queue), detail));
  let [reports, current, keys] = [[], null, {}];

  const mark = () => queue.querySelectorAll("a").forEach((link) => {
    if (current && link.dataset.report === title(current)) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  });

  /** Shows a report. */
  const open = (report) => {
    current = report;
    mark();
    detail.replaceChildren();
    keys = { j: ["Next", () => step(1)], k: ["Previous", () => step(-1)] };
    if (!report) return;
    return show(detail, async () => {
      const found = await get(path("reports", report.api, String(report.id)));
      const after = reports[reports.findIndex((each) => title(each) === title(report)) + 1];
      const done = (words) => {
        say(words);
        load(after && title(after));
      };
      if (current !== report) return null;
      keys = { ...found.state === "open" ? acts(found, done) : {}, n: ["Note", note(found, () => open(report))], ...keys };
      return [
        element("h2", {}, standing(found), " ", element("small", {}, title(found))),
        found.state !== "open" && element("p", { class: "panel" }, `${found.state} by ${found.closing?.by ?? "an operator"} `, time(found.closing?.at), found.closing?.acts.length ? ` (${found.closing.acts.join(", ")})` : "", found.closing?.reason ? `: ${found.closing.reason}` : ""),
        element("div", { class: "row acts", role: "group", "aria-label": "What can be done" },
          Object.entries(keys).map(([key, [label, act, kind]]) => button(label, act, { class: kind, "aria-keyshortcuts": key, title: `Key: ${key}` }))),
        facts(["Of", who(found.person, found.api)], ["Reason", found.reason], ["Details", found.details],
          ["Reported by", found.flagged_word ? `the list of words, for "${found.flagged_word}"` : who(found.reporter, found.api)], ["Reported", element("span", { class: isOld(found) ? "bad" : null }, time(found.created_at))]),
        found.kind !== "person" || found.content ? sides(found) : null,
        found.notes.length ? [element("h3", {}, "Notes"), element("ul", {}, found.notes.map((each) => element("li", {}, each.text, " ", element("small", {}, each.author, ", ", time(each.at)))))] : null,
        element("p", { class: "keys" }, element("small", {}, "Keys: ", Object.entries(keys).map(([key, [label]]) => `${key} ${label.toLowerCase()}`).join(", "))),
      ];
    }, () => open(report));
  };

  const step = (by) => {
    const index = reports.findIndex((each) => current && title(each) === title(current));
    const next = reports[Math.min(reports.length - 1, Math.max(0, index + by))];
    if (next && next !== current) open(next);
  };

  /** Loads the queue, and shows a report of it: the one that is named, or the first. */
  const load = (wanted) => show(queue, async () => {
    reports = await get(path("reports"), { state: choice.value, limit: 200 });
    const named = reports.find((each) => title(each) === wanted) ?? reports[0] ?? null;
    open(named);
    if (!reports.length) {
      detail.replaceChildren(empty(choice.value === "open" ? "No report is open. A new one is here as soon as it is made." : "There are none.", choice.value === "open" && session.role === "all" && element("p", {}, "With ", element("code", {}, "--reports-to ADDRESS"), " the server sends an e-mail about new ones.")));
      return null;
    }
    const list = element("ol", {}, reports.map((report) => element("li", {}, element("a", { href: `#reports?at=${encodeURIComponent(title(report))}`, "data-report": title(report), onclick: (event) => { event.preventDefault(); open(report); } },
      element("strong", {}, standing(report)), ` in ${titleOf(session, report.api)}`, element("small", {}, report.reason, ", ", element("span", { class: isOld(report) ? "bad" : null }, ago(report.created_at)))))));
    queueMicrotask(() => setTimeout(mark));
    return list;
  }, () => load(wanted));

  choice.addEventListener("change", () => load());
  const pressed = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea") || document.querySelector("dialog")) return;
    const act = keys[event.key]?.[1];
    if (!act) return;
    event.preventDefault();
    act();
  };
  addEventListener("keydown", pressed);
  load(fields.at);
  return () => removeEventListener("keydown", pressed);
}
