// The operator's page: signs in, and shows the view that the address names, such as #people or #person/messenger/17.

import { get, listen, path, post } from "./asking.js";
import { logView } from "./log.js";
import { overviewView } from "./overview.js";
import { peopleView, personView } from "./people.js";
import { reportsView } from "./reports.js";
import { attempt, code, div, h2, hush, p, show, span } from "./parts.js";

const byID = (id) => document.getElementById(id);
const views = {
  overview: ["Overview", overviewView], people: ["People", peopleView], person: ["Person", personView],
  reports: ["Reports", reportsView], log: ["One request", logView],
};
let session = null;
let leave = null;

/** Returns the view that the address names, its steps, and its fields: `#log?text=…`, `#person/messenger/17`. */
function target() {
  const [steps, query] = location.hash.slice(1).split("?");
  const [name, ...rest] = steps.split("/").map(decodeURIComponent);
  return { name: views[name] ? name : "overview", steps: rest, fields: Object.fromEntries(new URLSearchParams(query)) };
}

/** Shows the view of the address. A view may return a function that ends it. */
function open() {
  if (!session) return;
  const { name, steps, fields } = target();
  const [title, view] = views[name];
  leave?.();
  leave = null;
  document.title = `Concord: ${title.toLowerCase()}`;
  const tab = `#${name === "person" ? "people" : name}`;
  for (const link of byID("views").children) link.setAttribute("aria-current", link.hash === tab ? "page" : "false");
  hush();
  byID("view").replaceChildren();
  scrollTo(0, 0);
  leave = view(byID("view"), session, ...steps, fields) ?? null;
}

function begin(found) {
  session = found;
  byID("version").textContent = found.version.split(" ")[0];
  const end = new Date(found.expires_at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  byID("who-name").replaceChildren(found.name, span({ class: "wide" }, ` (${found.role}), until ${end}`));
  byID("who").hidden = byID("views").hidden = false;
  open();
}

/** Says how to get in, in the place of a view. */
function end(reason) {
  session = null;
  leave?.();
  leave = null;
  byID("who").hidden = byID("views").hidden = true;
  document.querySelectorAll("dialog").forEach((dialog) => dialog.close());
  byID("view").replaceChildren(div({ class: "panel sign-in" },
    h2("Sign in"), p({ role: "alert" }, reason),
    p("On the machine of the server, run ", code("concord operator link"),
      " and open the address that it prints. It is valid for 15 minutes, and once."),
    p("For a person who looks after people and reports alone: ",
      code("concord operator link --role moderate --name anna"), ".")));
  document.documentElement.dataset.ready = "true";
}

async function start() {
  listen((isAway) => {
    byID("away").hidden = !isAway;
    byID("away").textContent = isAway ? "The server does not answer. This page shows what it last knew." : "";
  }, end);
  byID("sign-out").addEventListener("click", () => attempt(async () => {
    await post(path("sign-out"));
    end("You are signed out.");
  }));
  addEventListener("hashchange", arrive);
  await arrive();
  document.documentElement.dataset.ready = "true";
}

/** Signs in with the link that the address has, and otherwise shows a view. */
async function arrive() {
  const token = location.hash.match(/^#sign-in=(.+)$/)?.[1];
  // The token is of no use any more, and does not belong into the history.
  if (token) history.replaceState(null, "", "#overview");
  try {
    if (token) begin(await post(path("sign-in"), { token }));
    else if (session) open();
    else begin(await get(path("session")));
  } catch (error) {
    if (error.status === 401 || error.status === 403) end(error.message);
    else await show(byID("view"), () => { throw error; }, () => { byID("view").replaceChildren(); arrive(); });
  }
}

start();
