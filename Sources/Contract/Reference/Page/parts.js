// What the views of the reference have in common.

import { button, element } from "./elements.js";

/** Returns a block of code with a button that copies it. `set` replaces its text, and its label. */
export function codeBlock(label, text = "") {
  const code = element("code", {}, text);
  const copy = button("Copy", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      copy.textContent = "Copied";
    } catch {
      // Browsers have no clipboard on plain HTTP from another machine: the selection can be copied by hand.
      getSelection().selectAllChildren(code);
      copy.textContent = "Selected";
    }
    setTimeout(() => { copy.textContent = "Copy"; }, 2000);
  }, { "aria-label": `Copy: ${label}` });
  const caption = element("span", {}, label);
  const pre = element("pre", { tabindex: "0", "aria-label": label }, code);
  const node = element("figure", { class: "code" }, element("figcaption", {}, caption, copy), pre);
  const set = (text, label = caption.textContent) => {
    code.textContent = text;
    caption.textContent = label;
    pre.setAttribute("aria-label", label);
  };
  return { node, set };
}

/** Returns the nodes of a sentence, in which `code` stands between backticks. */
export function sentence(text) {
  return text.split("`").map((part, index) => index % 2 ? element("code", {}, part) : part);
}

/** Returns the nodes of a path, which is broken before a slash if it has to be. */
export function pathNodes(path) {
  return path.split(/(?=\/)/).map((step) => [element("wbr"), step]);
}

/** Returns the methods of an operation, as they stand before its name. */
export function methods(operation) {
  return element("span", { class: `method ${operation.methods[0].toLowerCase()}` }, operation.methods.join(", "));
}

/** Returns a part that is closed until it is clicked. */
export function folded(label, ...children) {
  return element("details", { class: "folded" }, element("summary", {}, label), children);
}
