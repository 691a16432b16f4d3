// The form of an operation, and the request that it makes: for the browser, and as a line of curl.

import { element, field } from "./elements.js";
import { token } from "./session.js";

/** The controls of an operation's request. `onchange` is called when one of them changes. */
export class RequestForm {
  #operation;
  #description;
  #parameters = [];
  #type = null;
  #bodies = new Map();

  constructor(operation, description, onchange) {
    this.#operation = operation;
    this.#description = description;
    const parts = operation.parameters.map((parameter) => this.#parameter(parameter));
    const contents = operation.contents;
    if (contents.length > 1) {
      this.#type = element("select", {},
        contents.map(({ type }) => element("option", { value: type }, type)));
      this.#type.addEventListener("change", () => this.#showBody());
      parts.push(field("Form of the body", this.#type));
    }
    for (const content of contents) {
      const body = content.type === "multipart/form-data" ? this.#form(content) : this.#json(content);
      this.#bodies.set(content.type, body);
      parts.push(body.node);
    }
    this.node = element("div", { class: "fields" }, parts);
    this.node.addEventListener("input", onchange);
    this.node.addEventListener("change", onchange);
    this.#showBody();
  }

  #showBody() {
    for (const [type, body] of this.#bodies) body.node.hidden = type !== this.#contentType;
  }

  get #contentType() { return this.#type?.value ?? this.#operation.contents[0]?.type; }

  #parameter(parameter) {
    const isRequired = parameter.required === true;
    const shown = parameter.example === undefined ? "" : String(parameter.example);
    const values = parameter.schema.enum;
    const control = values
      ? element("select", {}, element("option", { value: "" }, isRequired ? "choose …" : "none"),
        values.map((value) => element("option", { value, selected: isRequired && String(value) === shown }, value)))
      : element("input", {
        type: "text", autocomplete: "off", spellcheck: "false", value: isRequired ? shown : "",
        placeholder: isRequired ? null : shown || null,
      });
    // Without a step there is another path. Other fields may be left out, to see what the server says.
    control.required = parameter.in === "path";
    this.#parameters.push({ ...parameter, control });
    const rules = [this.#description.type(parameter.schema), this.#description.rules(parameter.schema)];
    return field(`${parameter.name} (${parameter.in}${isRequired ? "" : ", optional"})`, control,
      rules.filter(Boolean).join("; "));
  }

  #json({ examples }) {
    const text = (value) => JSON.stringify(value, null, 2);
    const first = examples.length ? text(examples[0]) : "{}";
    const area = element("textarea", { rows: Math.min(14, first.split("\n").length + 1), spellcheck: "false" });
    area.value = first;
    const parts = [field("Body (JSON)", area)];
    if (examples.length > 1) {
      const choice = element("select", {},
        examples.map((_, index) => element("option", { value: index }, `Example ${index + 1}`)));
      choice.addEventListener("change", () => {
        area.value = text(examples[choice.value]);
        area.dispatchEvent(new Event("input", { bubbles: true }));
      });
      parts.unshift(field("Example", choice));
    }
    return { node: element("div", { class: "fields" }, parts), read: () => ({ text: area.value }) };
  }

  #form({ schema }) {
    const object = this.#description.resolve(schema);
    const controls = Object.entries(object.properties ?? {}).map(([name, property]) => {
      const one = property.items ?? property;
      const isFile = one.format === "binary";
      const control = element("input", isFile
        ? { type: "file", multiple: property.items !== undefined }
        : { type: "text", autocomplete: "off", spellcheck: "false" });
      return { name, property, control, isFile };
    });
    const read = () => ({
      parts: controls.flatMap(({ name, control, isFile }) => {
        if (isFile) return [...control.files].map((file) => ({ name, file }));
        return control.value === "" ? [] : [{ name, text: control.value }];
      }),
    });
    const fields = controls.map(({ name, property, control }) =>
      field(`${name}${object.required?.includes(name) ? "" : " (optional)"}`, control,
        [this.#description.type(property), this.#description.rules(property)].filter(Boolean).join("; ")));
    return { node: element("div", { class: "fields" }, fields), read };
  }

  /** Returns what the controls say: URL, headers, and a body as text or as parts of a form. */
  read() {
    const { method, path, isOpen } = this.#operation;
    const headers = [];
    const query = [];
    let target = path;
    for (const { name, in: place, control, required } of this.#parameters) {
      const value = control.value;
      if (place === "path") target = target.replace(`{${name}}`, encodeURIComponent(value));
      else if (value !== "" || required) (place === "header" ? headers : query).push([name, value]);
    }
    const base = new URL(".", location.href).href.replace(/\/$/, "") + this.#description.base;
    const search = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&");
    const body = this.#bodies.get(this.#contentType)?.read() ?? {};
    if (body.text?.trim()) headers.push(["Content-Type", this.#contentType]);
    return {
      method, url: base + target + (search ? `?${search}` : ""), headers, ...body,
      needsCaller: !isOpen, scheme: this.#description.scheme,
    };
  }
}

/** Sends a request with the caller's credentials. */
export function send(request) {
  const headers = new Headers(request.headers);
  if (request.needsCaller && request.scheme.type === "http" && token()) {
    headers.set("Authorization", `Bearer ${token()}`);
  }
  let body = request.text?.trim() ? request.text : undefined;
  if (request.parts) {
    body = new FormData();
    for (const { name, file, text } of request.parts) {
      if (file) body.append(name, file, file.name);
      else body.append(name, text);
    }
  }
  return fetch(request.url, { method: request.method, headers, body, cache: "no-store", credentials: "same-origin" });
}

/** Returns a text as one word of a POSIX shell. */
export const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** Returns the request as a command for a POSIX shell. */
export function curl(request) {
  const words = [`curl${request.method === "GET" ? "" : ` -X ${request.method}`} ${quoted(request.url)}`];
  if (request.scheme.type !== "http") {
    // curl keeps the cookie as a browser does.
    words.push("-b cookies.txt -c cookies.txt");
  } else if (request.needsCaller) {
    words.push(token() ? `-H ${quoted(`Authorization: Bearer ${token()}`)}` : '-H "Authorization: Bearer $TOKEN"');
  }
  for (const [name, value] of request.headers) words.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (request.text?.trim()) words.push(`--data-raw ${quoted(request.text)}`);
  for (const { name, file, text } of request.parts ?? []) {
    const path = (value) => `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
    words.push(file
      ? `-F ${quoted(`${name}=@${path(file.name)}${file.type ? `;type=${file.type}` : ""}`)}`
      : `--form-string ${quoted(`${name}=${text}`)}`);
  }
  return words.join(" \\\n  ");
}
