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

/** Returns a labelled control. The label of a check box stands behind it. */
export function field(label, control, hint) {
  fields += 1;
  control.id = `field-${fields}`;
  const note = hint ? element("small", { id: `hint-${fields}` }, hint) : null;
  if (note) control.setAttribute("aria-describedby", note.id);
  const parts = [element("label", { for: control.id }, label), control];
  const isBox = control.type === "checkbox";
  return element("div", { class: isBox ? "field box" : "field" }, isBox ? parts.reverse() : parts, note);
}

/** Returns a table. The first cell of each row is its heading; a cell is a text or a node. */
export function table(label, headings, rows) {
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    element("table", {},
      element("thead", {}, element("tr", {}, headings.map((text) => element("th", { scope: "col" }, text)))),
      element("tbody", {}, rows.map(([first, ...others]) =>
        element("tr", {}, element("th", { scope: "row" }, first), others.map((cell) => element("td", {}, cell)))))));
}

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
