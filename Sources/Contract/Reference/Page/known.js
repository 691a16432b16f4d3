// The ids that the answers of this tab had, by the kind of thing: a form begins with the last one instead of the example's.

const ids = new Map();

/** Returns a kind: `chat_id`, `chatIds` and `chats` are one. */
const kind = (name) => name.replace(/_?ids?$/i, "").replace(/s$/, "").toLowerCase();

const isID = (value) => Number.isSafeInteger(value) || typeof value === "string";

/** Returns the last step of a path that is no parameter: `messages` of `/chats/{id}/messages`. */
const lastStep = (path) => path.split("/").findLast((step) => step && !step.startsWith("{")) ?? "";

/** Remembers the ids in the answer to an operation that succeeded. */
export function remember({ path }, answer) {
  const note = (name, value) => {
    if (Array.isArray(value)) return note(name, value[0]);
    if (typeof value !== "object" || value === null) return;
    if (isID(value.id)) ids.set(kind(name), value.id);
    for (const [member, inner] of Object.entries(value)) {
      if (member === "data") note(name, inner);
      else if (Array.isArray(inner)) note(member, inner);
    }
  };
  note(lastStep(path), answer);
}

/** Returns the id for a parameter of a path: for `{id}` of `/chats/{id}/messages` a chat's. */
export function knownParameter(path, name) {
  return ids.get(kind(lastStep(path.slice(0, path.indexOf(`{${name}}`)))));
}

/** Returns a body with known ids in the place of the example's. */
export function withKnownIDs(body) {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  return Object.fromEntries(Object.entries(body).map(([name, value]) => {
    const known = /ids?$/i.test(name) && name.length > 3 ? ids.get(kind(name)) : undefined;
    if (known === undefined || value === null) return [name, value];
    return [name, Array.isArray(value) ? [known] : known];
  }));
}
