// Shows one operation: what it takes and answers, its line of curl and of Swift, and a form that calls it.

import { answerView } from "./answer.js";
import { message } from "./description.js";
import { button, codeBlock, element, sentence, table } from "./elements.js";
import { RequestForm, curl, send } from "./request.js";
import { onTokenChange } from "./session.js";

/** Returns an operation's element. Its content is made when it is first opened. */
export function operationView(operation, description, link) {
  const { method, path } = operation;
  const view = element("details", { id: operation.id, class: "operation" },
    element("summary", {},
      element("span", { class: `method ${method.toLowerCase()}` }, method), " ",
      element("code", { class: "path" }, description.base + path), " ",
      element("span", { class: "summary" }, sentence(operation.summary, link))));
  view.addEventListener("toggle", () => {
    if (view.open && view.children.length === 1) view.append(content(operation, description));
  });
  return view;
}

function content(operation, description) {
  const request = requestTables(operation, description);
  const good = operation.answers.filter(({ status }) => status < 400);
  const bad = operation.answers.filter(({ status }) => status >= 400);
  return element("div", { class: "content" },
    element("p", {},
      operation.isOpen ? "Needs no credentials." : "Needs a caller.",
      operation.isAddition ? " An addition to the published contract." : null, " ",
      element("a", { href: `#${operation.id}` }, `#${operation.id}`)),
    request.length ? [element("h3", {}, "Request"), request] : null,
    element("h3", {}, "Answers"), good.map((answer) => answerTables(answer, description)),
    element("h3", {}, "Errors"),
    table("Errors", ["Status", "Message"], bad.map((answer) => [
      `${answer.status} ${answer.name}`,
      answer.examples.map(message).filter(Boolean).map((text) => element("div", {}, text)),
    ])),
    tryIt(operation, description));
}

const rows = (fields, [always, sometimes]) => fields.map(({ path, type, rules, isRequired, isAddition }) => [
  element("code", {}, path), type, isRequired ? always : sometimes,
  [rules, isAddition ? "addition" : ""].filter(Boolean).join("; "),
]);

function requestTables(operation, description) {
  const tables = [];
  if (operation.parameters.length) {
    tables.push(table("Parameters", ["Name", "Place", "Type", "Presence", "Rules"],
      operation.parameters.map((parameter) => [
        element("code", {}, parameter.name), parameter.in, description.type(parameter.schema),
        parameter.required ? "required" : "optional",
        [description.rules(parameter.schema), parameter.description, parameter["x-addition"] ? "addition" : ""]
          .filter(Boolean).join("; "),
      ])));
  }
  for (const { type, schema } of operation.contents) {
    tables.push(table(`Body: ${type}`, ["Field", "Type", "Presence", "Rules"],
      rows(description.fields(schema), ["required", "optional"])));
  }
  return tables;
}

function answerTables(answer, description) {
  const fields = answer.schema ? description.fields(answer.schema) : [];
  return element("section", { "aria-label": `Answer ${answer.status}` },
    element("h4", {}, `${answer.status} ${answer.name}${answer.type ? `: ${answer.type}` : ""}`),
    fields.length ? table("Fields", ["Field", "Type", "Presence", "Rules"],
      rows(fields, ["always", "sometimes"])) : null,
    answer.examples.slice(0, 1).map((example) => codeBlock("Example", JSON.stringify(example, null, 2)).node));
}

/** Returns the form that calls the operation, and the lines of curl and Swift. */
function tryIt(operation, description) {
  const command = codeBlock("curl");
  const form = new RequestForm(operation, description, () => command.set(curl(form.read())));
  onTokenChange(() => command.set(curl(form.read())));
  // A screen reader says the status, and not the whole body.
  const state = element("p", { role: "status" });
  const answer = element("div");
  const submit = element("button", { type: "submit", class: "primary" }, `Send ${operation.method}`);

  function show(isGood, text, ...parts) {
    state.className = isGood ? "good" : "bad";
    state.textContent = text;
    answer.replaceChildren(...parts);
  }

  async function call(event) {
    event.preventDefault();
    const request = form.read();
    const destroys = operation.method === "DELETE" || operation.path.endsWith("/delete");
    const question = [`${operation.method} ${operation.path}`, operation.summary, "This cannot be undone. Send it?"];
    if (destroys && !confirm(question.join("\n\n"))) return;
    submit.disabled = true;
    show(true, "");
    const start = performance.now();
    try {
      const response = await send(request);
      const milliseconds = Math.round(performance.now() - start);
      const parts = await answerView(response);
      show(response.ok, `${response.status} ${response.statusText} after ${milliseconds} ms`, ...parts);
    } catch (error) {
      show(false, `The browser has no answer: ${error.message}. The server cannot be reached, or it redirected to `
        + "another host, which this page may not read: curl -L follows.");
    } finally {
      submit.disabled = false;
      submit.focus();
    }
  }

  return element("section", { class: "try", "aria-label": `Try ${operation.id}` },
    element("h3", {}, "Try it"),
    element("form", { onsubmit: call }, form.node, submit,
      button("Clear the answer", () => show(true, ""))),
    element("div", { class: "result" }, state, answer),
    command.node, operation.swift ? codeBlock("Swift", operation.swift).node : null);
}
