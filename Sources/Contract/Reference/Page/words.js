// Says the rules of a schema in words.

/** The patterns that the descriptions have, in words. */
const patterns = new Map([
  ["\\S", "not blank"],
  ["^[!-~]+$", "printable ASCII without spaces"],
  ["^[A-Za-z0-9]*$", "letters and digits"],
  ["^[A-Za-z0-9 _]*[A-Za-z0-9_][A-Za-z0-9 _]*$", "letters, digits, spaces and underscores, not blank"],
  ["^(0|[1-9][0-9]{0,8})(\\.[0-9]{1,2})?$", "an amount such as 12.50"],
  ["^[A-Za-z][A-Za-z0-9_+/-]*$", "a name such as Europe/Berlin"],
  ["\\.([Jj][Pp][Ee]?[Gg]|[Pp][Nn][Gg]|[Hh][Ee][Ii][Cc])$", "ends in .jpg, .jpeg, .png or .heic"],
]);

const beginnings = [
  ["^(?=[\\s\\S]*[a-z])(?=[\\s\\S]*[A-Z])(?=[\\s\\S]*[0-9])", "a lower-case letter, an upper-case letter, a digit and a special character"],
  ["^[^\\s\\u0000-\\u001f", "visible characters without spaces"],
  ["^[^\\u0000-\\u001f", "visible characters"],
];

const formats = new Map([
  ["date-time", "a time (RFC 3339)"], ["date", "a day such as 2026-02-23"], ["email", "an e-mail address"],
  ["uuid", "a UUID"], ["uri", "a URL"],
]);

function pattern(text) {
  return patterns.get(text) ?? beginnings.find(([begin]) => text.startsWith(begin))?.[1]
    ?? (text.length > 40 ? "a pattern of openapi.json" : `matches ${text}`);
}

function range(least, most, one = "", many = "") {
  const counted = (number) => `${number.toLocaleString("en")}${number === 1 ? one : many}`;
  if (least === undefined && most === undefined) return "";
  if (least === undefined) return `at most ${counted(most)}`;
  if (most === undefined) return `at least ${counted(least)}`;
  return least === most ? `exactly ${counted(least)}` : `${least.toLocaleString("en")} to ${counted(most)}`;
}

/** Returns the rules of a schema in words. */
export function rules(schema) {
  const each = schema.items ? rules(schema.items) : "";
  return [
    formats.get(schema.format) ?? "",
    schema.enum ? `one of ${schema.enum.map((value) => JSON.stringify(value)).join(", ")}` : "",
    range(schema.minLength, schema.maxLength, " character", " characters"), range(schema.minimum, schema.maximum),
    range(schema.minItems, schema.maxItems, " element", " elements"),
    schema.pattern ? pattern(schema.pattern) : "", schema.description?.replace(/\.$/, "") ?? "",
    each ? `each: ${each}` : "",
  ].filter(Boolean).join("; ");
}
