// Reports: one queue over all APIs, the oldest first, beside the report that is being read.

import { button, element, field } from "../reference/elements.js";
import { get, path, post } from "./asking.js";
import { a, acts, address, ago, apiOf, choice, code, confirm, div, empty, facts, h2, h3, input, li, p, say, section, show, size, small, span, strong, time, ul, until, viewOf } from "./parts.js";

const title = (report) => `${report.api} ${report.id}`;
const place = (report, ...steps) => path("reports", report.api, String(report.id), ...steps);
const isOld = (report) => report.state === "open" && Date.parse(report.created_at) < Date.now() - 20 * 3600000;
const age = (report, words) => span({ class: isOld(report) ? "bad" : null }, words);
const who = (person, api) => person ? a({ href: address(api, person.id) }, person.name || person.id) : "a deleted account";

/** Returns the files of a report. Pictures are loaded when they are asked for. */
function files(report) {
  return report.files.map((file, index) => {
    const source = place(report, "files", String(index + 1));
    const words = `${file.name} (${file.type}${file.size ? `, ${size(file.size)}` : ""})`;
    const save = (label) => a({ href: source, download: "" }, label);
    if (!file.type.startsWith("image/")) return p(save(`Save ${words}`));
    const frame = div({ class: "picture" });
    frame.append(button(`Show the picture ${words}`, () => {
      const image = element("img", { src: source, alt: "The picture that was reported" });
      image.addEventListener("error", () => frame.replaceChildren(p({ class: "bad" }, "The picture cannot be shown. "), save("Save the file")));
      frame.replaceChildren(image);
    }));
    return frame;
  });
}

function standing(report) {
  if (report.kind === "person") return "Person";
  const where = { message: "in chat", comment: "on post", entry: "in group" }[report.kind];
  return `${report.kind[0].toUpperCase()}${report.kind.slice(1)} ${report.thing}${where && report.place ? ` ${where} ${report.place}` : ""}`;
}

/** Returns then and now, side by side where there is room. */
function sides(report) {
  const side = (name, text, ...more) => section({ "aria-label": name }, h3(name), element("blockquote", {}, text), more);
  return div({ class: "sides" }, side("Then", report.content ?? "Nothing was kept.", files(report)),
    side("Now", report.present === null ? "It is no longer there." : report.present === report.content ? "It is the same." : report.present));
}

/** Returns what can be done with a report, by the keys that do it: `done` shows the next one, `again` this one. */
function deeds(report, done, again) {
  const name = report.person?.name || report.person?.id;
  const closing = async (question, words) => { if (await confirm(question)) done(`Report ${title(report)} is ${words}.`); };
  const act = () => {
    const boxes = [["remove", `Remove the ${report.kind}`, report.kind !== "person"], ["suspend", `Suspend ${name}`, report.person], ["warn", `Warn ${name} by e-mail`, report.person]]
      .filter(([, , isThere]) => isThere).map(([word, label]) => ({ word, label, box: input({ type: "checkbox" }) }));
    const chosen = () => boxes.filter(({ box }) => box.checked).map(({ word }) => word);
    const end = until();
    end.node.hidden = true;
    const set = element("fieldset", { onchange: () => { end.node.hidden = !chosen().includes("suspend"); } },
      element("legend", {}, "What is done"), boxes.map(({ label, box }) => field(label, box)));
    return closing({
      title: `Act on report ${title(report)}${name ? ` about ${name}` : ""}`, action: "Act, and close the report", reason: "required", isFinal: true,
      explanation: "All of it is done, or nothing. What is removed cannot be brought back; a suspension can be lifted.", fields: [set, end.node],
      act: (reason) => {
        if (!chosen().length) throw new Error("Choose what is done. To close the report without an act, dismiss it.");
        return post(place(report, "act"), { acts: chosen(), reason, until: chosen().includes("suspend") ? end.value() : undefined });
      },
    }, "closed");
  };
  const dismiss = () => closing({ title: `Dismiss report ${title(report)}?`, explanation: "Nothing is done, and no one hears of it. The report and its copy stay.", action: "Dismiss", reason: "free", act: (reason) => post(place(report, "dismiss"), { reason }) }, "dismissed");
  const note = async () => {
    const text = element("textarea", { rows: 3, maxlength: 2000, required: true });
    if (await confirm({ title: `Note on report ${title(report)}`, action: "Add the note", fields: [field("Note", text, "For other operators.")], act: () => post(place(report, "notes"), { text: text.value }) })) again();
  };
  return { ...report.state === "open" && { a: ["Act", act, "primary"], d: ["Dismiss", dismiss] }, n: ["Note", note] };
}

/** Returns the sentence on who has closed a report. */
function closed({ state, closing: { at, by, acts: done, reason } }) {
  return p({ class: "panel" }, `${state} by ${by} `, time(at), done.length ? ` (${done.join(", ")})` : "", reason ? `: ${reason}` : "");
}

/** Shows the queue, and the report that `fields` name. */
export function reportsView(view, session, fields) {
  const [queue, detail] = [element("nav", { id: "queue", "aria-label": "Queue" }), element("article", { id: "report", tabindex: "-1" })];
  const state = choice([["open"], ["acted"], ["dismissed"], ["all"]], fields.state ?? "open");
  view.append(h2("Reports"), div({ class: "beside" }, div(field("Show", state), queue), detail));
  let [reports, current, keys] = [[], null, {}];

  const isCurrent = (name) => String(current && title(current) === name);

  /** Shows a report. */
  const open = (report) => {
    current = report;
    queue.querySelectorAll("a").forEach((link) => link.setAttribute("aria-current", isCurrent(link.dataset.report)));
    detail.replaceChildren();
    keys = { j: ["Next", () => step(1)], k: ["Previous", () => step(-1)] };
    if (!report) return;
    return show(detail, async () => {
      const found = await get(place(report));
      const after = reports[reports.findIndex((each) => title(each) === title(report)) + 1];
      const done = (words) => {
        say(words);
        load(after && title(after));
      };
      if (current !== report) return null;
      keys = { ...deeds(found, done, () => open(report)), ...keys };
      return [
        h2(standing(found), " ", small(title(found))),
        found.closing && closed(found),
        acts(Object.entries(keys).map(([key, [label, act, kind]]) => button(label, act, { class: kind, "aria-keyshortcuts": key, title: `Key: ${key}` }))),
        facts(["Of", who(found.person, found.api)], ["Reason", found.reason], ["Details", found.details],
          ["Reported by", found.flagged_word ? `the list of words, for "${found.flagged_word}"` : who(found.reporter, found.api)], ["Reported", age(found, time(found.created_at))]),
        found.kind !== "person" || found.content ? sides(found) : null,
        found.notes.length ? [h3("Notes"), ul(found.notes.map((each) => li(each.text, " ", small(each.author, ", ", time(each.at)))))] : null,
        p({ class: "keys" }, small("Keys: ", Object.entries(keys).map(([key, [label]]) => `${key} ${label.toLowerCase()}`).join(", "))),
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
    reports = await get(path("reports"), { state: state.value, limit: 200 });
    open(reports.find((each) => title(each) === wanted) ?? reports[0] ?? null);
    if (!reports.length) {
      const isOpen = state.value === "open";
      detail.replaceChildren(empty(isOpen ? "No report is open. A new one is here as soon as it is made." : "There are none.",
        ...isOpen && session.role === "all" ? [p("With ", code("--reports-to ADDRESS"), " the server sends an e-mail about new ones.")] : []));
      return null;
    }
    return element("ol", {}, reports.map((report) => li(a({ href: viewOf("reports", { at: title(report) }), "data-report": title(report), "aria-current": isCurrent(title(report)), onclick: (event) => { event.preventDefault(); open(report); } },
      strong(standing(report)), ` in ${apiOf(session, report.api).title}`, small(report.reason, ", ", age(report, ago(report.created_at)))))));
  }, () => load(wanted));

  state.addEventListener("change", () => load());
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
