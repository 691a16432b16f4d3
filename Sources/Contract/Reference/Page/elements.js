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
