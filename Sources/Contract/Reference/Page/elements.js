// Makes elements. Text always becomes a text node and is never read as HTML.

/** Returns an element with attributes, listeners (`onclick`) and children, which are nodes or texts. */
export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false));
  return node;
}

/** Returns a button that does not submit a form. */
export function button(label, onclick, attributes = {}) {
  return element("button", { type: "button", onclick, ...attributes }, label);
}

let fields = 0;

/** Returns a labelled control. */
export function field(label, control, hint) {
  fields += 1;
  control.id = `field-${fields}`;
  const note = hint ? element("small", { id: `hint-${fields}` }, hint) : null;
  if (note) control.setAttribute("aria-describedby", note.id);
  return element("div", { class: "field" }, element("label", { for: control.id }, label), control, note);
}

/** Returns a table. The first cell of each row is its heading; a cell is a text or a node. */
export function table(caption, headings, rows) {
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    element("table", {},
      element("caption", {}, caption),
      element("thead", {}, element("tr", {}, headings.map((text) => element("th", { scope: "col" }, text)))),
      element("tbody", {}, rows.map(([first, ...others]) =>
        element("tr", {}, element("th", { scope: "row" }, first), others.map((cell) => element("td", {}, cell)))))));
}

/** Returns a block of code with a button that copies it. `set` replaces its text. */
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
  const node = element("figure", { class: "code" },
    element("figcaption", {}, label, copy),
    element("pre", { tabindex: "0", "aria-label": label }, code));
  return { node, set: (text) => { code.textContent = text; } };
}

/** Returns the nodes of a sentence, in which `code` stands between backticks. `link` may return a node for code. */
export function sentence(text, link = () => null) {
  return text.split("`").map((part, index) => index % 2 ? link(part) ?? element("code", {}, part) : part);
}
