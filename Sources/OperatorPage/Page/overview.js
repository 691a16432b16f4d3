// The first view: is all well, and what waits for the operator?

import { button, element, field, table } from "../reference/elements.js";
import { get, path, post } from "./asking.js";
import { chart } from "./chart.js";
import { a, attempt, choice, code, confirm, count, div, empty, facts, h2, h3, input, li, p, panel, say, section, show, size, span, time, ul, viewOf } from "./parts.js";

const hour = 3600000;
const isOlder = (text, hours) => Date.parse(text) < Date.now() - hours * hour;

/** Returns a light: a coloured dot with its meaning in words behind it. */
const light = (state, ...words) => span({ class: `light ${state}` }, span({ "aria-hidden": "true" }, state === "well" ? "●" : "▲"), " ", words);

/** Returns sentences on what is not as it should be; none when all is well. */
function concerns({ apis, disk, backup, certificate_expires_at: expiry }) {
  const found = [];
  const note = (state, ...words) => found.push(li(light(state, words)));
  for (const api of apis) {
    const { title, unavailable, hour: { errors } } = api;
    if (unavailable.length) note(api.ready ? "odd" : "ill", `${title} ${api.ready ? "serves, but" : "does not serve:"} ${unavailable.join(", ")} cannot be used.`);
    if (errors) note("odd", `${title} has answered ${count(errors, "request")} of the last hour with an error. `, a({ href: viewOf("log", { level: "warning", text: api.name }) }, "See the log"));
    for (const [number, name] of [[api.emails_failed, "e-mail"], [api.pushes_failed, "notification"]]) {
      if (number) note("odd", `${title}: ${count(number, name)} could not be sent at an attempt since the start.`);
    }
    if (api.reports_open) note(isOlder(api.oldest_report_at, 20) ? "ill" : "odd", `${title} has ${count(api.reports_open, "open report")}, the oldest from `, time(api.oldest_report_at), ". ", a({ href: "#reports" }, "Read them"));
  }
  if (disk && disk.available < disk.reserve) note("ill", `The disk has ${size(disk.available)} left, which is less than the reserve of ${size(disk.reserve)}: uploads are refused.`);
  if (!backup.place) note("odd", "The server makes no backups: start it with --backup-to.");
  else if (backup.problem) note("ill", `Backups: ${backup.problem}.`);
  else if (!backup.newest_at) note("odd", "There is no backup yet.");
  else if (isOlder(backup.newest_at, 48)) note("ill", "The last backup is from ", time(backup.newest_at), ".");
  if (expiry && isOlder(expiry, -14 * 24)) note(isOlder(expiry, 0) ? "ill" : "odd", "The certificate expires ", time(expiry), ".");
  return found;
}

function card({ title, url, ready, unavailable, sockets, emails_waiting: emails, pushes_waiting: pushes, hour: { requests, errors, p95 } }) {
  const state = !ready ? light("ill", "not ready") : unavailable.length ? light("odd", "partly ready") : light("well", "ready");
  return li({ class: "panel" },
    h3(title, " ", state),
    facts(["Requests in an hour", requests.toLocaleString("en")], ["Errors", String(errors)], ["95 % within", p95 === undefined ? undefined : `${p95} ms`],
      ["Open sockets", sockets.toLocaleString("en")], ["E-mails waiting", String(emails)], ["Notifications waiting", String(pushes)]),
    p(a({ href: `${url.replace(/\/api$/, "")}/` }, "Reference")));
}

function traffic(apis, all) {
  const place = div();
  const chosen = choice([["", "All APIs"], ...apis.map(({ name, title }) => [name, title])]);
  const draw = () => {
    const { svg, most, slowest } = chart(apis.find(({ name }) => name === chosen.value)?.minutes ?? all);
    const key = (name, words) => span({ class: `key ${name}` }, words);
    place.replaceChildren(svg, p({ class: "legend" },
      key("requests", "requests"), ` (up to ${most} a minute), `, key("errors", "errors"), ", ", key("slow", "95th percentile"), ` (up to ${slowest} ms). The last hour ends at the right.`));
  };
  chosen.addEventListener("change", draw);
  draw();
  return div({ class: "traffic" }, panel("The last hour", div({ class: "row" }, field("Show", chosen)), place));
}

function backups({ place, newest_at: newest, size: bytes, running, done, total }, mayAll, again) {
  const begin = async () => {
    await attempt(async () => {
      await post(path("backups"));
      say("The backup has begun.");
    });
    again();
  };
  return panel("Backups",
    place ? facts(["Place", code(place)], ["Newest", time(newest, "none yet")], ["Size", bytes === undefined ? undefined : size(bytes)])
      : p("No place is set. Start the server with ", code("--backup-to"), "."),
    running && p({ role: "status" }, "A backup is being made: ", element("progress", { max: total || 1, value: done, "aria-label": "Progress of the backup" }), total ? ` ${done} of ${total}` : ""),
    mayAll && place && button("Back up now", begin, { disabled: running }));
}

function mail() {
  const test = () => {
    const address = input({ type: "email", required: true, autocomplete: "email" });
    confirm({
      title: "Send a test e-mail", action: "Send", fields: [field("To", address)],
      act: async () => say((await post(path("test-email"), { address: address.value.trim() })).text),
    });
  };
  return panel("E-mails", p("Does the mail server take what this server sends?"), button("Send a test", test));
}

/** Returns what only the role all sees: problems of the settings, and the audit. Each loads by itself, so that the view is there at once. */
function behindTheScenes() {
  const part = (title, make) => {
    const place = div();
    show(place, make);
    return section({ "aria-label": title }, h2(title), place);
  };
  return [
    part("Settings", async () => {
      const found = await get(path("problems"));
      return found.length ? ul(found.map((text) => li(text))) : p(light("well", "No problem found in the settings."));
    }),
    part("What operators have done", async () => {
      const lines = (await get(path("audit"), { last: 20 })).reverse();
      if (!lines.length) return empty("No operator has done anything yet.");
      return table("The last 20 lines of the audit", ["When", "Who", "What", "API", "To whom, and why"],
        lines.map(({ time: at, actor, action, api, subject }) => [time(at), actor, action, api, subject]));
    }),
  ];
}

/** Shows the state of the server, which is read again every ten seconds. */
export function overviewView(place, session) {
  const mayAll = session.role === "all";
  const state = div();
  place.append(h2("Overview"), state, ...mayAll ? behindTheScenes() : []);
  const load = () => show(state, async () => {
    const overview = await get(path("overview"));
    const { apis, minutes, disk, backup, certificate_expires_at: expiry, warnings } = overview;
    const found = concerns(overview);
    return [
      found.length ? ul({ class: "concerns", "aria-label": "What is not well" }, found) : p(light("well", "All is well.")),
      ul({ class: "cards", "aria-label": "APIs" }, apis.map(card)),
      traffic(apis, minutes),
      div({ class: "cards" }, backups(backup, mayAll, load),
        disk && panel("Disk", facts(["Free", `${size(disk.available)} of ${size(disk.size)}`], ["Kept free", size(disk.reserve)], ["Certificate", expiry && ["expires ", time(expiry)]],
          ["Warnings in the log", warnings ? a({ href: "#log?level=warning" }, String(warnings)) : "none"])),
        mayAll && mail()),
    ];
  }, load);
  load();
  const isBusy = () => state.contains(document.activeElement) || document.hidden || document.querySelector("dialog");
  const turn = setInterval(() => { if (!isBusy()) load(); }, 10000);
  return () => clearInterval(turn);
}
