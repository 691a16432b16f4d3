// The form of an operation, and the request that it makes: for the browser, and as a line of curl.

import { element, field } from "./elements.js";
import { knownParameter, withKnownIDs } from "./known.js";
import { folded } from "./parts.js";
import { token } from "./session.js";
import { rules } from "./words.js";

/** The controls of an operation's request. `onchange` is called when one of them changes. */
export class RequestForm {
  #operation;
  #description;
  #parameters = [];
  #method = null;
  #type = null;
  #bodies = new Map();

  constructor(operation, description, onchange) {
    this.#operation = operation;
    this.#description = description;
    const parts = [];
    if (operation.methods.length > 1) {
      this.#method = element("select", {}, operation.methods.map((method) => element("option", {}, method)));
      parts.push(field("Method", this.#method));
    }
    const fields = operation.parameters.map((parameter) => ({ parameter, node: this.#parameter(parameter) }));
    parts.push(fields.filter(({ parameter }) => parameter.required).map(({ node }) => node));
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
    const optional = fields.filter(({ parameter }) => !parameter.required).map(({ node }) => node);
    if (optional.length) {
      parts.push(folded(`Optional parameters (${optional.length})`, element("div", { class: "fields" }, optional)));
    }
    this.node = element("div", { class: "fields" }, parts.flat());
    this.#showBody();
    this.useKnownIDs();
    this.node.addEventListener("input", onchange);
    this.node.addEventListener("change", onchange);
  }

  /** Fills in the ids of this tab's last answers, where the form is as it was made. */
  useKnownIDs() {
    for (const { name, control, filled } of this.#parameters.filter((parameter) => parameter.in === "path")) {
      const known = knownParameter(this.#operation.path, name);
      if (known === undefined || control.value !== (control.dataset.filled ?? filled)) continue;
      control.value = control.dataset.filled = String(known);
    }
    for (const body of this.#bodies.values()) body.useKnownIDs?.();
    this.node.dispatchEvent(new Event("change"));
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
    this.#parameters.push({ ...parameter, control, filled: control.value });
    return field(`${parameter.name} (${parameter.in})`, control,
      [this.#description.type(parameter.schema), rules(parameter.schema)].filter(Boolean).join("; "));
  }

  #json({ examples }) {
    const text = (value) => JSON.stringify(withKnownIDs(value), null, 2);
    let example = examples[0] ?? {};
    let filled = text(example);
    const area = element("textarea", { rows: Math.min(10, filled.split("\n").length), spellcheck: "false" });
    area.value = filled;
    const fill = () => { area.value = filled = text(example); };
    const parts = [field("Body (JSON)", area)];
    if (examples.length > 1) {
      const choice = element("select", {},
        examples.map((_, index) => element("option", { value: index }, `Example ${index + 1}`)));
      choice.addEventListener("change", () => {
        example = examples[choice.value];
        fill();
        area.dispatchEvent(new Event("input", { bubbles: true }));
      });
      parts.push(field("Example of the body", choice));
    }
    return {
      node: element("div", { class: "fields" }, parts), read: () => ({ text: area.value }), example: () => examples[0] ?? {},
      useKnownIDs: () => { if (area.value === filled) fill(); },
    };
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
        [this.#description.type(property), rules(property)].filter(Boolean).join("; ")));
    return { node: element("div", { class: "fields" }, fields), read };
  }

  /** Returns what the controls say: URL, headers, and a body as text or as parts of a form. */
  read() {
    const { methods, path, isOpen } = this.#operation;
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
      method: this.#method?.value ?? methods[0], url: base + target + (search ? `?${search}` : ""), headers, ...body,
      needsCaller: !isOpen, scheme: this.#description.scheme,
    };
  }

  /** Returns the values of the form beside the example's, as `{ name, example, value }`; null when the body is no JSON. */
  values() {
    const parameters = this.#parameters.filter((parameter) => parameter.in !== "header").map((parameter) => {
      const { name, example, schema, control, required } = parameter;
      const isNumber = [schema.type].flat().includes("integer");
      const value = isNumber && /^-?\d+$/.test(control.value) ? Number(control.value) : control.value;
      return { name, example: required ? example : "", value };
    });
    const body = this.#bodies.get(this.#contentType);
    if (!body?.example) return parameters;
    try {
      const now = new Map(leaves(JSON.parse(body.read().text)));
      const then = new Map(leaves(body.example()));
      const names = new Set([...then.keys(), ...now.keys()]);
      return [...parameters, ...[...names].map((name) => ({ name, example: then.get(name), value: now.get(name) }))];
    } catch { return null; }
  }
}

/** Returns the members of a value that are no objects themselves, with their names. */
function leaves(value, name = "") {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [[name, value]];
  return Object.entries(value).flatMap(([member, inner]) => leaves(inner, member));
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

/** Returns the request as commands for a POSIX shell. */
export function curl(request) {
  const lines = [];
  const words = [`curl${request.method === "GET" ? "" : ` -X ${request.method}`} ${quoted(request.url)}`];
  if (request.scheme.type !== "http") {
    // curl keeps the cookie as a browser does.
    words.push("-b cookies.txt -c cookies.txt");
  } else if (request.needsCaller) {
    if (token()) lines.push(`export TOKEN=${quoted(token())}`);
    words.push('-H "Authorization: Bearer $TOKEN"');
  }
  for (const [name, value] of request.headers) words.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (request.text?.trim()) words.push(`--data-raw ${quoted(request.text)}`);
  for (const { name, file, text } of request.parts ?? []) {
    const path = (value) => `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
    words.push(file
      ? `-F ${quoted(`${name}=@${path(file.name)}${file.type ? `;type=${file.type}` : ""}`)}`
      : `--form-string ${quoted(`${name}=${text}`)}`);
  }
  return [...lines, words.join(" \\\n  ")].join("\n");
}
