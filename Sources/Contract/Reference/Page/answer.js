// Shows the answer to a request: headers, and the body as JSON, text, picture or file.

import { button, element, table } from "./elements.js";
import { remember } from "./known.js";
import { codeBlock, folded } from "./parts.js";
import { follow, nameIn, token, tokenIn, use } from "./session.js";

/** The headers that are shown, if an answer has them. */
const shown = [
  "content-type", "content-length", "location", "retry-after", "x-ratelimit-limit", "x-ratelimit-remaining",
  "x-ratelimit-reset", "idempotent-replayed", "etag", "x-request-id",
];
const longest = 200_000;

/** Returns JSON with line breaks and indentation. The values stay as they are written: ids have up to 19 digits. */
export function pretty(text) {
  let depth = 0;
  const lines = () => `\n${"  ".repeat(depth)}`;
  return text.replace(/"(?:[^"\\]|\\.)*"|[{[]\s*[}\]]|[{}[\],:]|\s+|[^\s{}[\],:"]+/g, (part) => {
    if (part.trim() === "") return "";
    if (part[0] === '"') return part;
    if (/^[{[]\s*[}\]]$/.test(part)) return part[0] + part.at(-1);
    if (part === "{" || part === "[") { depth += 1; return part + lines(); }
    if (part === "}" || part === "]") { depth -= 1; return lines() + part; }
    if (part === ",") return part + lines();
    return part === ":" ? ": " : part;
  });
}

/** Returns the elements that show the body and the headers of an answer. */
export async function answerView(operation, request, response) {
  follow(operation, request, response);
  const type = (response.headers.get("content-type") ?? "").split(";")[0];
  const headers = shown.flatMap((name) => response.headers.has(name) ? [[name, response.headers.get(name)]] : []);
  const parts = [
    ...await body(operation, request, response, type),
    headers.length ? folded(`Headers (${headers.length})`, table("Headers", ["Name", "Value"], headers)) : null,
  ];
  return parts.filter(Boolean);
}

async function body(operation, request, response, type) {
  const bytes = await response.blob();
  if (bytes.size === 0) return [element("p", {}, "The answer has no body.")];
  if (type === "application/json") {
    const text = await bytes.text();
    const value = parsed(text);
    if (response.ok) remember(operation, value);
    return [tokenOffer(value, nameIn(request)), textBlock("JSON", pretty(text)), ...pictures(value)];
  }
  if (type.startsWith("image/")) {
    const picture = element("img", { src: URL.createObjectURL(bytes), alt: `The picture of the answer (${type})` });
    picture.addEventListener("load", () => URL.revokeObjectURL(picture.src));
    return [picture];
  }
  if (type.startsWith("text/")) return [textBlock(type, await bytes.text())];
  const link = element("a", { href: URL.createObjectURL(bytes), download: "answer" }, `Save ${bytes.size} bytes`);
  return [element("p", {}, link)];
}

function textBlock(label, text) {
  const isLong = text.length > longest;
  const block = codeBlock(label, isLong ? text.slice(0, longest) : text);
  return element("div", {}, block.node,
    isLong ? element("p", {}, `The first ${longest} of ${text.length} characters are shown.`) : null);
}

function parsed(text) {
  try { return JSON.parse(text); } catch { return null; }
}

/** Returns the texts in a value. */
function textsIn(value) {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Shows the pictures whose URLs an answer has, if they are on this server. */
function pictures(value) {
  const urls = textsIn(value).filter((text) => /^(https?:\/\/|\/)\S+$/.test(text) && URL.canParse(text, location.href))
    .map((text) => new URL(text, location.href))
    .filter(({ origin, pathname }) => origin === location.origin && /\.(jpe?g|png|gif|webp)$/i.test(pathname));
  return [...new Set(urls.map(({ href }) => href))].slice(0, 12).map((href) =>
    element("img", { src: href, alt: `The picture at ${new URL(href).pathname}`, loading: "lazy" }));
}

/** Offers to send the requests that follow with the token of an answer. */
function tokenOffer(value, name) {
  const found = tokenIn(value);
  if (!found || found === token()) return null;
  const offer = element("p", { class: "offer" }, "This answer has an access token. ",
    button("Use it for requests", () => {
      use(found, name);
      offer.replaceChildren("Requests are sent with this token from now on.");
      offer.setAttribute("role", "status");
    }));
  return offer;
}
