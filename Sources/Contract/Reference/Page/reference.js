// The page of an API's reference. It reads the server's own descriptions, /openapi.json and /asyncapi.json.

import { consolePanel } from "./console.js";
import { Description } from "./description.js";
import { element, sentence } from "./elements.js";
import { operationView } from "./operation.js";
import { sessionPanel } from "./session.js";

const byID = (id) => document.getElementById(id);

async function load(name) {
  const response = await fetch(name);
  if (response.status === 404) return null;
  if (!response.ok) throw new Error(`${name}: ${response.status} ${response.statusText}`);
  return response.json();
}

/** Opens the operation that the address names. */
function openTarget() {
  const target = byID(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.matches("details.operation")) {
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
      const entry = element("li", {}, element("a", { href: `#${operation.id}` },
        element("span", { class: `method ${operation.method.toLowerCase()}` }, operation.method), " ", operation.id));
      const text = [operation.id, operation.method, operation.path, operation.summary].join(" ").toLowerCase();
      items.push({ entry, text: `${text} ${name.toLowerCase()}` });
      return entry;
    });
    return element("li", { class: "group" }, element("h2", {}, name), element("ul", {}, entries));
  });
  const places = [["session", "Session"], ...hasConsole ? [["console", "Live socket"]] : []];
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

async function start() {
  const [openAPI, asyncAPI] = await Promise.all([load("openapi.json"), load("asyncapi.json")]);
  const description = new Description(openAPI);
  document.title = `${description.title}: reference`;
  byID("title").textContent = `${description.title} `;
  byID("title").append(element("small", {}, description.version));
  byID("links").append("Described by ", element("a", { href: "openapi.json" }, "openapi.json"),
    ...asyncAPI ? [" and ", element("a", { href: "asyncapi.json" }, "asyncapi.json")] : [],
    ". Requests go to this server.");

  const link = (text) => {
    const operation = description.named(text);
    return operation ? element("a", { href: `#${operation.id}` }, element("code", {}, text)) : null;
  };
  byID("main").replaceChildren(
    element("p", {}, sentence(openAPI.info.description)),
    sessionPanel(description, link), ...asyncAPI ? [consolePanel(asyncAPI)] : [],
    ...description.sections.map(({ name, operations }) => element("section", { "aria-label": name },
      element("h2", {}, name), operations.map((operation) => operationView(operation, description, link)))));
  listOperations(description, asyncAPI !== null);

  const wide = matchMedia("(min-width: 60rem)");
  const arrange = () => { byID("contents").open = wide.matches; };
  wide.addEventListener("change", arrange);
  arrange();
  addEventListener("hashchange", openTarget);
  openTarget();
  document.documentElement.dataset.ready = "true";
}

start().catch((error) => {
  byID("main").replaceChildren(element("p", { role: "alert" }, `The description cannot be shown: ${error.message}`));
});
