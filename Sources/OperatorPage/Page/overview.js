// The first view: is all well, and what waits for the operator?

import { button, element, field, table } from "../reference/elements.js";
import { get, path, post } from "./asking.js";
import { chart, together } from "./chart.js";
import { confirm, count, empty, facts, say, show, size, time } from "./parts.js";

const hour = 3600000;
const isOlder = (text, hours) => Date.parse(text) < Date.now() - hours * hour;

/** Returns a light: a coloured dot with its meaning in words behind it. */
const light = (state, ...words) => element("span", { class: `light ${state}` }, element("span", { "aria-hidden": "true" }, state === "well" ? "●" : "▲"), " ", words);

/** Returns sentences on what is not as it should be; none when all is well. */
function concerns(overview) {
  const found = [];
  const note = (state, ...words) => found.push(element("li", {}, light(state, words)));
  for (const api of overview.apis) {
    if (!api.ready) note("ill", `${api.title} does not serve: ${api.unavailable.join(", ")} cannot be used.`);
    else if (api.unavailable.length) note("odd", `${api.title} serves, but ${api.unavailable.join(", ")} cannot be used.`);
    if (api.hour.errors) note("odd", `${api.title} has answered ${count(api.hour.errors, "request")} of the last hour with an error. `, element("a", { href: `#log?level=warning&text=${encodeURIComponent(api.name)}` }, "See the log"));
    if (api.emails_failed) note("odd", `${api.title}: ${count(api.emails_failed, "e-mail")} could not be sent at an attempt since the start.`);
    if (api.pushes_failed) note("odd", `${api.title}: ${count(api.pushes_failed, "notification")} could not be sent at an attempt since the start.`);
    if (api.reports_open) note(isOlder(api.oldest_report_at, 20) ? "ill" : "odd", `${api.title} has ${count(api.reports_open, "open report")}, the oldest from `, time(api.oldest_report_at), ". ", element("a", { href: "#reports" }, "Read them"));
  }
  const { disk, backup } = overview;
  if (disk && disk.available < disk.reserve) note("ill", `The disk has ${size(disk.available)} left, which is less than the reserve of ${size(disk.reserve)}: uploads are refused.`);
  if (!backup.place) note("odd", "The server makes no backups: start it with --backup-to.");
  else if (backup.problem) note("ill", `Backups: ${backup.problem}.`);
  else if (!backup.newest_at) note("odd", "There is no backup yet.");
  else if (isOlder(backup.newest_at, 48)) note("ill", "The last backup is from ", time(backup.newest_at), ".");
  const expiry = overview.certificate_expires_at;
  if (expiry && Date.parse(expiry) < Date.now() + 14 * 24 * hour) note(Date.parse(expiry) < Date.now() ? "ill" : "odd", "The certificate expires ", time(expiry), ".");
  return found;
}

function card(api) {
  const { requests, errors, p95 } = api.hour;
  const state = api.ready ? light(api.unavailable.length ? "odd" : "well", api.unavailable.length ? "partly ready" : "ready") : light("ill", "not ready");
  return element("li", { class: "panel" },
    element("h3", {}, api.title, " ", state),
    facts(["Requests in the last hour", requests.toLocaleString("en")], ["Errors", String(errors)],
      ["95 of 100 within", p95 === null || p95 === undefined ? "no requests" : `${p95} ms`], ["Open sockets", api.sockets.toLocaleString("en")],
      ["E-mails waiting", String(api.emails_waiting)], ["Notifications waiting", String(api.pushes_waiting)]),
    element("p", {}, element("a", { href: api.url.replace(/\/api$/, "") + "/" }, "Reference")));
}

function traffic(apis) {
  const place = element("div");
  const choice = element("select", {}, element("option", { value: "" }, "All APIs"), apis.map(({ name, title }) => element("option", { value: name }, title)));
  const draw = () => {
    const chosen = apis.filter(({ name }) => !choice.value || name === choice.value);
    const { svg, most, slowest } = chart(together(chosen.map(({ minutes }) => minutes)));
    place.replaceChildren(svg, element("p", { class: "legend" },
      element("span", { class: "key requests" }, "requests"), ` (up to ${most} a minute), `, element("span", { class: "key errors" }, "errors"), ", ",
      element("span", { class: "key slow" }, "95th percentile"), ` (up to ${slowest} ms). The last hour ends at the right.`));
  };
  choice.addEventListener("change", draw);
  draw();
  return element("section", { class: "panel traffic", "aria-label": "Traffic" }, element("h2", {}, "The last hour"), element("div", { class: "row" }, field("Show", choice)), place);
}

function backups(backup, mayAll, again) {
  const { running, done, total } = backup;
  const begin = async () => {
    try {
      await post(path("backups"));
      say("The backup has begun.");
    } catch (error) {
      say(error.message, true);
    }
    again();
  };
  return element("section", { class: "panel", "aria-label": "Backups" }, element("h2", {}, "Backups"),
    backup.place ? facts(["Place", element("code", {}, backup.place)], ["Newest", backup.newest_at ? time(backup.newest_at) : "none yet"],
      ["Size", backup.size !== null && backup.size !== undefined ? size(backup.size) : undefined])
      : element("p", {}, "No place is set. Start the server with ", element("code", {}, "--backup-to"), "."),
    running && element("p", { role: "status" }, "A backup is being made: ", element("progress", { max: total || 1, value: done, "aria-label": "Progress of the backup" }), total ? ` ${done} of ${total}` : ""),
    mayAll && backup.place && button("Back up now", begin, { disabled: running }));
}

function mail() {
  const test = () => {
    const address = element("input", { type: "email", required: true, autocomplete: "email" });
    confirm({
      title: "Send a test e-mail", action: "Send", fields: [field("To", address)],
      act: async () => say((await post(path("test-email"), { address: address.value.trim() })).text),
    });
    address.focus();
  };
  return element("section", { class: "panel", "aria-label": "E-mails" }, element("h2", {}, "E-mails"),
    element("p", {}, "Does the mail server take what this server sends?"), button("Send a test", test));
}

/** Returns what only the role all sees: problems of the settings, and the audit. Each loads by itself, so that the view is there at once. */
function behindTheScenes() {
  const [problems, audit] = [element("div"), element("div")];
  show(problems, async () => {
    const found = await get(path("problems"));
    return found.length ? element("ul", {}, found.map((text) => element("li", {}, text))) : element("p", {}, light("well", "No problem found in the settings."));
  });
  show(audit, async () => {
    const lines = (await get(path("audit"), { last: 20 })).reverse();
    if (!lines.length) return empty("No operator has done anything yet.");
    return table("The last 20 lines of the audit", ["When", "Who", "What", "API", "To whom, and why"],
      lines.map(({ time: at, actor, action, api, subject }) => [time(at), actor, action, api, subject]));
  });
  return [element("section", { "aria-label": "Settings" }, element("h2", {}, "Settings"), problems),
    element("section", { "aria-label": "Audit" }, element("h2", {}, "What operators have done"), audit)];
}

/** Shows the state of the server, which is read again every ten seconds. */
export function overviewView(place, session) {
  const mayAll = session.role === "all";
  const [state, rest] = [element("div"), mayAll ? behindTheScenes() : []];
  place.append(element("h2", { class: "first" }, "Overview"), state, ...rest);
  const load = () => show(state, async () => {
    const overview = await get(path("overview"));
    const found = concerns(overview);
    const { disk } = overview;
    return [
      found.length ? element("ul", { class: "concerns", "aria-label": "What is not well" }, found) : element("p", {}, light("well", "All is well.")),
      element("ul", { class: "cards", "aria-label": "APIs" }, overview.apis.map(card)),
      traffic(overview.apis),
      element("div", { class: "cards" }, backups(overview.backup, mayAll, load),
        disk && element("section", { class: "panel", "aria-label": "Disk" }, element("h2", {}, "Disk"),
          facts(["Free", `${size(disk.available)} of ${size(disk.size)}`], ["Kept free", size(disk.reserve)],
            ["Certificate", overview.certificate_expires_at ? ["expires ", time(overview.certificate_expires_at)] : undefined],
            ["Warnings in the log", overview.warnings ? element("a", { href: "#log?level=warning" }, String(overview.warnings)) : "none"])),
        mayAll && mail()),
    ];
  }, load);
  load();
  const isBusy = () => state.contains(document.activeElement) || document.hidden || document.querySelector("dialog");
  const turn = setInterval(() => { if (!isBusy()) load(); }, 10000);
  return () => clearInterval(turn);
}
