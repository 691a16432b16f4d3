// The page of an API's reference. It reads the server's own descriptions, /openapi.json and /asyncapi.json.

import { consolePanel } from "./console.js";
import { Description } from "./description.js";
import { element, table } from "./elements.js";
import { operationView } from "./operation.js";
import { methods, pathNodes, sentence } from "./parts.js";
import { startSession } from "./session.js";

const byID = (id) => document.getElementById(id);

async function load(name) {
  const response = await fetch(name);
  if (!response.ok) throw new Error(`${name}: ${response.status} ${response.statusText}`);
  return response.json();
}

/** Links to the other APIs whose addresses are known. Behind a proxy, only the operator can know them. */
function linkNeighbors() {
  const port = location.port || (location.protocol === "https:" ? "443" : "80");
  const isDirect = port === document.documentElement.dataset.port;
  for (const link of document.querySelectorAll("#neighbors a[data-port]")) {
    if (isDirect) link.href = `${location.protocol}//${location.hostname}:${link.dataset.port}/`;
    else link.parentElement.remove();
  }
  byID("neighbors").hidden = !document.querySelector("#neighbors a");
}

/** Opens what the address names. */
function openTarget() {
  const target = byID(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.matches("details")) {
    target.open = true;
    target.querySelector("summary").focus({ preventScroll: true });
  }
  target.scrollIntoView();
}

/** Lists the operations, and shows those that a filter matches. */
function listOperations(description, hasConsole) {
  const items = [];
  const groups = description.sections.map(({ name, operations }) => {
    const entries = operations.map((operation) => {
      const path = description.base + operation.path;
      const entry = element("li", {}, element("a", { href: `#${operation.id}` }, methods(operation), " ",
        element("span", {}, operation.id, " ", element("small", {}, pathNodes(path)))));
      const text = [operation.id, ...operation.methods, path, operation.summary, name].join(" ").toLowerCase();
      items.push({ entry, text });
      return entry;
    });
    return element("li", { class: "group" }, element("h2", {}, name), element("ul", {}, entries));
  });
  const places = [["session", "Session"], ...hasConsole ? [["console", "Live socket"]] : [], ["errors", "Errors"]];
  byID("list").append(element("ul", {},
    places.map(([id, name]) => element("li", {}, element("a", { href: `#${id}` }, name))), groups));

  byID("filter").addEventListener("input", ({ target }) => {
    const words = target.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const { entry, text } of items) entry.hidden = !words.every((word) => text.includes(word));
    for (const group of groups) group.hidden = !group.querySelector("li:not([hidden])");
    const count = items.filter(({ entry }) => !entry.hidden).length;
    byID("matches").textContent = words.length ? `${count} of ${items.length} operations` : "";
  });
}

/** Returns what is said once for all operations: their common errors, and where the page comes from. */
function foot(description, hasSocket) {
  const link = (name) => element("a", { href: name }, name);
  return [
    element("details", { id: "errors", class: "panel" },
      element("summary", {}, element("h2", {}, "Errors that all operations have")),
      table("Common errors", ["Status", "Message", "Answer of"],
        description.commonRefusals.map(({ status, name, text, of }) => [`${status} ${name}`, text, of]))),
    element("footer", {},
      element("p", {}, "Described by ", link("openapi.json"), ...hasSocket ? [" and ", link("asyncapi.json")] : [], ". ",
        sentence(description.document.info.description))),
  ];
}

async function start() {
  startSession();
  linkNeighbors();
  const hasSocket = document.documentElement.dataset.socket === "true";
  const [openAPI, asyncAPI] = await Promise.all([load("openapi.json"), hasSocket ? load("asyncapi.json") : null]);
  const description = new Description(openAPI);
  byID("operations").replaceChildren(
    ...description.sections.map(({ name, operations }) => element("section", { "aria-label": name },
      element("h2", {}, name), operations.map((operation) => operationView(operation, description)))),
    ...asyncAPI ? [consolePanel(asyncAPI)] : [], ...foot(description, hasSocket));
  listOperations(description, hasSocket);

  const wide = matchMedia("(min-width: 60rem)");
  const arrange = () => { byID("contents").open = wide.matches; };
  wide.addEventListener("change", arrange);
  arrange();
  addEventListener("hashchange", openTarget);
  openTarget();
  document.documentElement.dataset.ready = "true";
}

start().catch((error) => {
  byID("operations").replaceChildren(element("p", { role: "alert" }, `The description cannot be shown: ${error.message}`));
});
