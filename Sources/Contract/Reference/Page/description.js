// Reads an OpenAPI document: its operations in the order of the contract's sections, and its schemas in words.

export class Description {
  constructor(document) {
    this.document = document;
    this.title = document.info.title;
    this.version = document.info.version;
    const base = document.servers?.[0]?.url ?? "/";
    /** The prefix of every path: `/api`, or nothing. */
    this.base = base === "/" ? "" : base;
    this.operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, json]) => this.#operation(method.toUpperCase(), path, json)));
    this.sections = document.tags.map(({ name }) => ({
      name, operations: this.operations.filter((operation) => operation.section === name),
    }));
    const [[name, scheme]] = Object.entries(document.components.securitySchemes);
    this.scheme = { name, ...scheme };
  }

  #operation(method, path, json) {
    return {
      id: json.operationId, method, path, summary: json.summary ?? "", section: json.tags[0],
      isAddition: json["x-addition"] === true, isOpen: json.security?.length === 0, swift: json["x-swift"],
      parameters: (json.parameters ?? []).map((parameter) => this.resolve(parameter)),
      contents: Object.entries(json.requestBody?.content ?? {}).map(([type, content]) => ({
        type, schema: content.schema, examples: this.examples(content),
      })),
      needsBody: json.requestBody?.required === true,
      answers: Object.entries(json.responses).map(([status, answer]) => this.#answer(Number(status), answer)),
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

  /** Returns an operation by what the contract calls it: `POST /chats`. */
  named(signature) {
    return this.operations.find(({ method, path }) => `${method} ${path}` === signature);
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
        path, type: this.type(property), rules: this.rules(property),
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

  /** Returns the rules of a schema in words. */
  rules(schema) {
    const list = schema.items ? `each: ${this.rules(schema.items)}` : "";
    const range = (least, most, unit) => {
      if (least === undefined && most === undefined) return "";
      if (least === undefined) return `at most ${most}${unit}`;
      if (most === undefined) return `at least ${least}${unit}`;
      return least === most ? `exactly ${least}${unit}` : `${least} to ${most}${unit}`;
    };
    return [
      schema.format && !["binary", "int64", "double"].includes(schema.format) ? schema.format : "",
      schema.enum ? schema.enum.map((value) => JSON.stringify(value)).join(", ") : "",
      range(schema.minLength, schema.maxLength, " characters"), range(schema.minimum, schema.maximum, ""),
      range(schema.minItems, schema.maxItems, " elements"),
      schema.pattern ? `matches ${schema.pattern.length > 60 ? "a pattern of the description" : schema.pattern}` : "",
      schema.description ?? "", list === "each: " ? "" : list,
    ].filter(Boolean).join("; ");
  }
}

/** Returns the message of a refusal's example, wherever the API's error shape has it. */
export function message(failure) {
  if (typeof failure === "string") return failure;
  for (const value of Object.values(failure ?? {})) {
    const found = typeof value === "object" || typeof value === "string" ? message(value) : null;
    if (found) return found;
  }
  return null;
}
