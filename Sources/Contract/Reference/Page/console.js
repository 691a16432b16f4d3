// The console of a live socket: shows what both sides send, and sends the client's frames.

import { button, element, field } from "./elements.js";
import { withKnownIDs } from "./known.js";
import { onTokenChange, token } from "./session.js";

/** The number of lines that the console keeps. */
const most = 500;

/** Returns the name of a frame's example: its type, and the members by which it differs from the first example. */
function label(name, payload, first) {
  const differences = Object.entries(payload).filter(([member, value]) => first[member] !== value);
  return [name, ...differences.map(([member, value]) => `${member}: ${JSON.stringify(value)}`)].join(", ");
}

/** Returns the panel of a socket that an AsyncAPI document describes. */
export function consolePanel(document) {
  const channel = document.channels.live;
  const message = (reference) => {
    const name = reference.$ref.split("/").pop();
    return document.components.messages[name];
  };
  // The document has the server's view: it receives what clients send.
  const frames = document.operations.receiveFrame.messages.map(message).flatMap(({ name, examples }) =>
    examples.map(({ payload }) => ({ label: label(name, payload, examples[0].payload), payload })));
  const takesToken = channel.bindings?.ws?.query?.properties?.token !== undefined;

  let socket = null;
  const state = element("p", { id: "socket-state", role: "status" }, "Not connected.");
  const lines = element("ol", { id: "frames", role: "log", "aria-label": "Frames", tabindex: "0" });
  const withToken = element("input", { type: "checkbox" });
  const connect = button("Connect", open, { class: "primary" });
  const disconnect = button("Disconnect", () => socket?.close(1000), { disabled: true });
  const choice = element("select", { onchange: fill }, frames.map(({ label }, index) =>
    element("option", { value: index }, label)));
  const area = element("textarea", { rows: 4, spellcheck: "false" });
  const submit = element("button", { type: "submit", disabled: true }, "Send frame");

  let isEdited = false;
  area.addEventListener("input", () => { isEdited = true; });

  /** Writes an example into the field, with the caller's token in the place of the example's. */
  function fill() {
    isEdited = false;
    const payload = withKnownIDs(frames[choice.value].payload);
    const filled = "token" in payload && token() ? { ...payload, token: token() } : payload;
    area.value = JSON.stringify(filled);
  }

  function note(kind, text) {
    const time = new Date();
    lines.append(element("li", { class: kind },
      element("time", { datetime: time.toISOString() }, time.toLocaleTimeString()), " ",
      element("strong", {}, kind), " ", element("code", {}, text)));
    while (lines.children.length > most) lines.firstElementChild.remove();
    lines.scrollTop = lines.scrollHeight;
  }

  function show(text, isOpen) {
    state.textContent = text;
    connect.disabled = isOpen;
    connect.textContent = "Reconnect";
    disconnect.disabled = !isOpen;
    submit.disabled = socket?.readyState !== WebSocket.OPEN;
  }

  function open() {
    const url = new URL(channel.address.replace(/^\//, ""), location.href);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    url.hash = "";
    if (withToken.checked && token()) url.searchParams.set("token", token());
    const own = new WebSocket(url);
    socket = own;
    show("Connecting …", true);
    own.onopen = () => show("Connected.", true);
    own.onmessage = ({ data }) => note("received", typeof data === "string" ? data : `${data.size} bytes`);
    own.onclose = ({ code, reason }) => {
      note("closed", `${code}${reason ? ` ${reason}` : ""}`);
      show(code === 1006 ? "The connection was refused or lost." : `Closed with code ${code}.`, false);
    };
  }

  const form = element("form", {
    onsubmit: (event) => {
      event.preventDefault();
      socket.send(area.value);
      note("sent", area.value);
    },
  }, element("div", { class: "fields" }, field("Frame", choice), field("Text of the frame", area)),
  element("div", { class: "row" }, submit, button("Clear the list", () => lines.replaceChildren())));
  onTokenChange(() => { if (!isEdited) fill(); });

  return element("details", { id: "console", class: "panel" },
    element("summary", {}, element("h2", {}, "Live socket")),
    element("p", {}, "Connects to ", element("code", {}, channel.address), " and shows what both sides send. If a frame has a field ",
      element("code", {}, "token"), ", your session's token is filled in."),
    takesToken ? field("Open with the session's token in the URL", withToken) : null,
    element("div", { class: "row" }, connect, disconnect, state), form, lines);
}
