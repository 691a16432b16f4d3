// Shows one operation: a form that calls it, its lines of curl and of Swift, and beside them what it takes and answers.

import { answerView } from "./answer.js";
import { button, element, table } from "./elements.js";
import { codeBlock, folded, methods, pathNodes, sentence } from "./parts.js";
import { RequestForm, curl, send } from "./request.js";
import { onTokenChange, token } from "./session.js";
import { swiftCall } from "./swift.js";
import { rules } from "./words.js";

/** Returns an operation's element. Its content is made when it is first opened. */
export function operationView(operation, description) {
  let form = null;
  const view = element("details", { id: operation.id, class: "operation" },
    element("summary", {}, methods(operation), " ", element("strong", {}, operation.id), " ",
      element("code", { class: "path" }, pathNodes(description.base + operation.path)), " ",
      element("span", { class: "summary" }, sentence(operation.summary))));
  view.addEventListener("toggle", () => {
    if (!view.open) return;
    if (form) return form.useKnownIDs();
    const made = tryIt(operation, description);
    form = made.form;
    view.append(element("div", { class: "content" }, made.node,
      element("div", { class: "tables" }, requestTables(operation, description),
        answerTables(operation, description), errorTable(operation))));
  });
  return view;
}

const addition = "not in the published contract";

const rows = (fields, [always, sometimes]) => fields.map(({ path, type, rules, isRequired, isAddition }) => [
  element("code", {}, path), type, isRequired ? always : sometimes,
  [rules, isAddition ? addition : ""].filter(Boolean).join("; "),
]);

function requestTables(operation, description) {
  const tables = [];
  if (operation.parameters.length) {
    tables.push(element("h3", {}, "Parameters"),
      table("Parameters", ["Name", "Place", "Type", "Presence", "Rules"], operation.parameters.map((parameter) => [
        element("code", {}, parameter.name), parameter.in, description.type(parameter.schema),
        parameter.required ? "required" : "optional",
        [rules(parameter.schema), parameter.description, parameter["x-addition"] ? addition : ""]
          .filter(Boolean).join("; "),
      ])));
  }
  for (const { type, schema } of operation.contents) {
    tables.push(element("h3", {}, `Body: ${type}`), table(`Body: ${type}`, ["Field", "Type", "Presence", "Rules"],
      rows(description.fields(schema), ["required", "optional"])));
  }
  return tables;
}

function answerTables(operation, description) {
  return operation.answers.map(({ status, name, type, schema, examples }) => {
    const fields = schema ? description.fields(schema) : [];
    return [
      element("h3", {}, `Answer: ${status} ${name}${type && type !== "application/json" ? `, ${type}` : ""}`),
      fields.length ? table(`Answer ${status}`, ["Field", "Type", "Presence", "Rules"],
        rows(fields, ["", "may be absent"])) : null,
      examples.slice(0, 1).map((example) =>
        folded("Example", codeBlock(`Example ${status}`, JSON.stringify(example, null, 2)).node)),
    ];
  });
}

function errorTable({ refusals }) {
  const common = element("p", {}, element("a", { href: "#errors" }, "Errors that all operations have"));
  if (!refusals.length) return common;
  return folded(`Errors (${refusals.length})`, table("Errors", ["Status", "Message"],
    refusals.map(({ status, name, text }) => [`${status} ${name}`, text])), common);
}

/** Returns the form that calls the operation, and the lines of curl and Swift. */
function tryIt(operation, description) {
  const command = codeBlock("curl");
  const call = codeBlock("Swift");
  const change = () => {
    command.set(curl(form.read()));
    if (!operation.swift) return;
    const { text, isExact } = swiftCall(operation.swift, form.values());
    call.set(text, isExact ? "Swift" : "Swift, with the example's values");
  };
  const form = new RequestForm(operation, description, change);
  const needs = element("p");
  onTokenChange(() => {
    change();
    needs.replaceChildren(
      operation.isOpen ? "Needs no session." : "Needs a session.",
      ...operation.isOpen || token() || description.scheme.type !== "http" ? [] : [" ", signInLink("Sign in first.")],
      operation.isAddition ? ` Is ${addition}.` : "");
  });
  // A screen reader says the status, and not the whole body.
  const state = element("p", { role: "status" });
  const answer = element("div");
  const submit = element("button", { type: "submit", class: "primary" }, "Send");

  function show(kind, text, ...parts) {
    state.className = kind;
    state.replaceChildren(text);
    answer.replaceChildren(...parts);
  }

  async function sendForm(event) {
    event.preventDefault();
    const request = form.read();
    const destroys = request.method === "DELETE" || operation.path.endsWith("/delete");
    const question = [`${request.method} ${operation.path}`, operation.summary, "This cannot be undone. Send it?"];
    if (destroys && !confirm(question.join("\n\n"))) return;
    submit.disabled = true;
    show("", "Sending …");
    const start = performance.now();
    try {
      const response = await send(request);
      const milliseconds = Math.round(performance.now() - start);
      const parts = await answerView(operation, request, response);
      show(response.ok ? "good" : "bad", `${response.status} ${response.statusText} after ${milliseconds} ms`, ...parts);
      if (response.status === 401 && request.needsCaller) state.append(" ", signInLink("Sign in first."));
    } catch (error) {
      show("bad", `The browser has no answer: ${error.message}. The server cannot be reached, or it redirected to `
        + "another host, which this page may not read: curl -L follows.");
    } finally {
      submit.disabled = false;
      submit.focus({ preventScroll: true });
    }
  }

  const node = element("section", { class: "try", "aria-label": `Try ${operation.id}` }, needs,
    element("form", { onsubmit: sendForm }, form.node,
      element("div", { class: "row" }, submit, button("Clear the answer", () => show("", "")))),
    element("div", { class: "result" }, state, answer),
    command.node, operation.swift ? call.node : null);
  return { form, node };
}

const signInLink = (text) => element("a", { href: "#session" }, text);
