// Reads an OpenAPI document: its operations in the order of the contract's sections, and its schemas in words.

import { rules } from "./words.js";

export class Description {
  constructor(document) {
    this.document = document;
    this.title = document.info.title;
    this.version = document.info.version;
    const base = document.servers?.[0]?.url ?? "/";
    /** The prefix of every path: `/api`, or nothing. */
    this.base = base === "/" ? "" : base;
    this.operations = Object.entries(document.paths).flatMap(([path, methods]) => this.#operations(path, methods));
    this.sections = document.tags.map(({ name }) => ({
      name, operations: this.operations.filter((operation) => operation.section === name),
    }));
    const [[name, scheme]] = Object.entries(document.components.securitySchemes);
    this.scheme = { name, ...scheme };
    this.#findCommonRefusals();
  }

  /** Returns the operations of a path. Those that differ in nothing but their method are one. */
  #operations(path, methods) {
    const found = [];
    for (const [method, json] of Object.entries(methods)) {
      const twin = found.find(({ id }) => json.operationId === `${id}With${method[0].toUpperCase()}${method.slice(1)}`);
      if (twin) twin.methods.push(method.toUpperCase());
      else found.push(this.#operation(method.toUpperCase(), path, json));
    }
    return found;
  }

  /** Finds the refusals that every operation has, or every operation that needs a session. They are said once. */
  #findCommonRefusals() {
    const inAll = (operations) => {
      const [first, ...others] = operations.map(({ refusals }) => refusals);
      return (first ?? []).filter((one) => others.every((list) => list.some((each) => isSame(one, each))));
    };
    const ofAll = inAll(this.operations);
    const ofSession = inAll(this.operations.filter(({ isOpen }) => !isOpen))
      .filter((one) => !ofAll.some((each) => isSame(one, each)));
    this.commonRefusals = [
      ...ofAll.map((refusal) => ({ ...refusal, of: "every operation" })),
      ...ofSession.map((refusal) => ({ ...refusal, of: "every operation that needs a session" })),
    ].sort((one, other) => one.status - other.status);
    for (const operation of this.operations) {
      const common = operation.isOpen ? ofAll : [...ofAll, ...ofSession];
      operation.refusals = operation.refusals.filter((one) => !common.some((each) => isSame(one, each)));
    }
  }

  #operation(method, path, json) {
    const answers = Object.entries(json.responses).map(([status, answer]) => this.#answer(Number(status), answer));
    return {
      id: json.operationId, methods: [method], path, summary: json.summary ?? "", section: json.tags[0],
      isAddition: json["x-addition"] === true, isOpen: json.security?.length === 0, swift: json["x-swift"],
      parameters: (json.parameters ?? []).map((parameter) => this.resolve(parameter)),
      contents: Object.entries(json.requestBody?.content ?? {}).map(([type, content]) => ({
        type, schema: content.schema, examples: this.examples(content),
      })),
      needsBody: json.requestBody?.required === true,
      answers: answers.filter(({ status }) => status < 400),
      refusals: answers.filter(({ status }) => status >= 400).flatMap(({ status, name, examples }) =>
        examples.map(message).filter(Boolean).map((text) => ({ status, name, text }))),
    };
  }

  #answer(status, json) {
    const answer = this.resolve(json);
    const [type, content] = Object.entries(answer.content ?? {})[0] ?? [];
    return {
      status, name: answer.description, headers: Object.keys(answer.headers ?? {}), type,
      schema: content?.schema, examples: content ? this.examples(content) : [],
    };
  }

  /** Returns what a reference names, or the value itself. */
  resolve(value) {
    let found = value;
    while (found?.$ref) {
      found = found.$ref.split("/").slice(1).reduce((at, step) => at?.[step], this.document);
    }
    return found ?? {};
  }

  examples(content) {
    return Object.values(content.examples ?? {}).map((example) => this.resolve(example).value);
  }

  /** Returns the fields of a schema as rows: path, type, whether it is required, rules. */
  fields(schema, prefix = "", seen = []) {
    const object = this.resolve(schema);
    if (seen.includes(object) || seen.length > 5) return [];
    const inner = [...seen, object];
    if (object.anyOf) return object.anyOf.flatMap((each) => this.fields(each, prefix, inner));
    if (object.items) return this.fields(object.items, `${prefix}[]`, inner);
    return Object.entries(object.properties ?? {}).flatMap(([name, property]) => {
      const path = prefix ? `${prefix}.${name}` : name;
      const row = {
        path, type: this.type(property), rules: rules(property),
        isRequired: object.required?.includes(name) === true, isAddition: property["x-addition"] === true,
      };
      return [row, ...this.fields(property, path, inner)];
    });
  }

  /** Returns the type of a schema in words: `text`, `number or null`, `list of Message`. */
  type(schema) {
    const name = schema.$ref?.split("/").pop();
    if (name) return name;
    if (schema.anyOf) return schema.anyOf.map((each) => this.type(each)).join(" or ");
    if (schema.const !== undefined) return JSON.stringify(schema.const);
    if (schema.items) return `list of ${this.type(schema.items)}`;
    const types = [schema.type ?? []].flat().map((type) => schema.format === "binary" ? "file" : type);
    return types.join(" or ") || (schema.enum ? "one of" : "any value");
  }
}

const isSame = (one, other) => one.status === other.status && one.text === other.text;

/** Returns the message of a refusal's example, wherever the API's error shape has it. */
export function message(failure) {
  if (typeof failure === "string") return failure;
  for (const value of Object.values(failure ?? {})) {
    const found = typeof value === "object" || typeof value === "string" ? message(value) : null;
    if (found) return found;
  }
  return null;
}
