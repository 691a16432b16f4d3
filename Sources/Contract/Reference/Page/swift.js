// Writes the SDK's call of an operation with the values of its form.

const words = (name) => name.split(/[_-]|(?=[A-Z])/).filter(Boolean).map((word) => word.toLowerCase());

const camel = (words) => words.map((word, index) => index ? word[0].toUpperCase() + word.slice(1) : word).join("");

/** Returns the labels that an argument for a field may have: `chat_id` is `chatId`, `chatID` or `chat`. */
function labels(name) {
  const parts = words(name);
  const isID = parts.length > 1 && /^ids?$/.test(parts.at(-1));
  const thing = parts.slice(0, -1);
  const own = [camel(parts), name, ...isID ? [camel(thing), `${camel(thing)}s`, `${camel(thing)}ID`] : []];
  return [...new Set(own)];
}

/** Returns a text as a literal of Swift. */
const quoted = (text) => `"${text.replace(/[\\"]/g, "\\$&").replace(/[\0-\x1f\x7f]/g, (character) =>
  ({ "\n": "\\n", "\r": "\\r", "\t": "\\t" })[character] ?? `\\u{${character.charCodeAt(0).toString(16)}}`)}"`;

const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, "_");

/** Returns the ways in which Swift may write a value. The first is the plain one. */
function literals(value) {
  if (typeof value === "string") {
    const isWord = /^[A-Za-z][A-Za-z_]*$/.test(value);
    return [quoted(value), ...isWord ? [`.${camel(words(value))}`] : []];
  }
  if (typeof value === "number") return [String(value), grouped(value)];
  if (typeof value === "boolean") return [String(value)];
  if (!Array.isArray(value)) return [];
  const elements = value.map((element) => literals(element)[0]);
  return elements.includes(undefined) ? [] : [`[${elements.join(", ")}]`];
}

/**
 * Returns a call in which the changed values stand for the example's, and whether all of them do.
 *
 * @param call The call with the example's values.
 * @param values The form's values, as `{ name, example, value }`; null when they cannot be read.
 */
export function swiftCall(call, values) {
  let text = call;
  let isExact = values !== null;
  for (const { name, example, value } of values ?? []) {
    if (JSON.stringify(example) === JSON.stringify(value)) continue;
    const [plain, asCase] = literals(value);
    const place = literals(example).map((literal) => position(text, literal, labels(name))).find(Boolean)
      ?? variable(text, labels(name));
    const written = place && (place.isCase ? asCase : plain);
    if (written) text = text.slice(0, place.start) + written + text.slice(place.end);
    else isExact = false;
  }
  return { text, isExact };
}

/** Finds a literal in a call: behind one of the labels, or else where it stands only once. */
function position(call, literal, labels) {
  const isCase = literal.startsWith(".");
  // A number within a text, such as a day's, is another value.
  const isApart = (character) => !(/^\d/.test(literal) ? /[\w."-]/ : /\w/).test(character ?? "");
  const starts = [];
  for (let at = call.indexOf(literal); at >= 0; at = call.indexOf(literal, at + 1)) {
    if (isApart(call[at + literal.length]) && (isCase || isApart(call[at - 1]))) starts.push(at);
  }
  const labelled = starts.find((at) => labels.some((label) => call.slice(0, at).endsWith(`${label}: `)));
  const start = labelled ?? (starts.length === 1 ? starts[0] : undefined);
  return start === undefined ? null : { start, end: start + literal.length, isCase };
}

/** Finds the variable that an example has in the place of a value: `group: group`, `groups: [group]`. */
function variable(call, labels) {
  for (const label of labels) {
    for (const name of [label, `[${label.replace(/s$/, "")}]`]) {
      const at = call.indexOf(`${label}: ${name}`);
      if (at >= 0) return { start: at + label.length + 2, end: at + label.length + 2 + name.length, isCase: false };
    }
  }
  return undefined;
}
