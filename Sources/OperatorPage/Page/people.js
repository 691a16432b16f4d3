// People: one search over all APIs, and a card of one person with everything that an operator can do.

import { button, codeBlock, element, field, table } from "../reference/elements.js";
import { get, path, post } from "./asking.js";
import { confirm, count, empty, facts, say, show, size, time, titleOf, until } from "./parts.js";

export const address = (api, id) => `#person/${encodeURIComponent(api)}/${encodeURIComponent(id)}`;
const called = (person) => person.name || person.email || person.id;

const suspended = ({ suspension }) => suspension && element("strong", { class: "bad" }, suspension.until ? ["suspended until ", suspension.until.slice(0, 16).replace("T", " ")] : "suspended");

/** Shows the search, with the people whom `fields.text` finds. */
export function peopleView(place, session, fields) {
  const text = element("input", { type: "search", value: fields.text ?? "", autocomplete: "off", spellcheck: "false", placeholder: "name, address or id" });
  const choice = element("select", {}, element("option", { value: "" }, "All APIs"), session.apis.map(({ name, title }) => element("option", { value: name }, title)));
  choice.value = fields.api ?? "";
  const found = element("div", { id: "found" });
  const form = element("form", { role: "search", class: "row" }, field("Find people", text), field("In", choice), element("button", { type: "submit", class: "primary" }, "Find"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const query = new URLSearchParams({ text: text.value.trim(), ...choice.value && { api: choice.value } });
    const next = `#people?${query}`;
    if (location.hash === next) search();
    else location.hash = next;
  });
  place.append(element("h2", { class: "first" }, "People"), form, found);
  const search = () => show(found, async () => {
    if (!fields.text) return empty("Write the beginning of a name or of an e-mail address, or an id. In Messenger and Dunbar any part of a name does.");
    const people = await get(path("people"), { text: fields.text, api: fields.api, limit: 50 });
    if (!people.length) return empty(`No one was found for “${fields.text}”. Try fewer letters, the e-mail address, or the id that a report or a log line has.`);
    return [element("p", { role: "status" }, count(people.length, "person", "people"), people.length >= 50 ? ": there may be more, so write more of the name." : "."),
      table("People", ["Name", "API", "Id", "Address", "Since", "State"], people.map((person) => [
        element("a", { href: address(person.api, person.id) }, called(person)), titleOf(session, person.api), person.id, person.email ?? "", time(person.created_at), suspended(person) ?? "usual"]))];
  }, search);
  search();
  text.focus();
}

/** Returns the acts on a person: label, and what happens when the button is pressed. */
function acts(person, session, load) {
  const { api, id } = person;
  const name = called(person);
  const whom = `${name} (${titleOf(session, api)} ${id})`;
  const has = session.apis.find((each) => each.name === api) ?? {};
  const mayAll = session.role === "all";
  const act = (step, fields) => post(path("people", api, id, step), fields);
  const ask = (question, done) => async () => {
    if (await confirm(question)) {
      say(done);
      load();
    }
  };
  const end = until();
  const found = [];
  if (person.suspension) {
    found.push(button("Restore", ask({ title: `Restore ${whom}?`, explanation: "They can go on at once, with the sessions that they had.", action: `Restore ${name}`, reason: "free", act: (reason) => act("restore", { reason }) }, `${whom} is restored.`), { class: "primary" }));
  } else {
    found.push(button("Suspend …", ask({ title: `Suspend ${whom}?`, explanation: "Within a second every request of theirs is refused with the reason, and their sockets are closed. What they wrote stays. Restore undoes it.", action: `Suspend ${name}`, reason: "required", fields: [end.node], act: (reason) => act("suspend", { reason, until: end.value() }) }, `${whom} is suspended. Restore undoes it.`)));
  }
  found.push(button("Sign out …", ask({ title: `Sign ${whom} out everywhere?`, explanation: "All sessions end within a second. They can sign in again.", action: `Sign ${name} out`, reason: "required", act: (reason) => act("sign-out", { reason }) }, `${whom} is signed out.`)));
  if (has.has_passwords) found.push(button("Reset code …", () => resetCode(person, whom)));
  if (has.has_reports) found.push(button("Remove what they wrote …", ask({ title: `Remove all that ${whom} wrote?`, explanation: "Messages, posts, comments and entries are removed, and it cannot be undone. The account stays.", action: `Remove what ${name} wrote`, reason: "required", isFinal: true, word: id, act: (reason) => act("remove-content", { reason }) }, `What ${whom} wrote is removed.`), { class: "danger" }));
  if (mayAll) {
    found.push(button("Export …", () => confirm({ title: `Export all that is kept of ${whom}?`, explanation: "A ZIP file with what the person wrote, too. Give it to that person alone.", action: "Export", reason: "required", act: (reason) => { location.href = `${path("people", api, id, "export")}?${new URLSearchParams({ reason })}`; } })));
    found.push(button("Delete …", async () => {
      const isDone = await confirm({ title: `Delete ${whom}?`, explanation: "The account goes with everything that belongs to it. It cannot be undone: export it first if you may need it.", action: `Delete ${name}`, reason: "required", isFinal: true, word: id, act: (reason) => act("delete", { reason }) });
      if (!isDone) return;
      say(`${whom} is deleted.`);
      location.hash = "#people";
    }, { class: "danger" }));
  }
  return found;
}

async function resetCode(person, whom) {
  const send = element("input", { type: "checkbox" });
  let made;
  const isDone = await confirm({
    title: `Make a code for a new password of ${whom}?`, action: "Make the code",
    explanation: "It is good for 15 minutes, and once, and ends all sessions. Whoever has it has the account: make sure to whom you give it.",
    fields: [person.email && field(`Send it to ${person.email}, and do not show it`, send)],
    act: async () => { made = await post(path("people", person.api, person.id, "reset-code"), { send: send.checked }); },
  });
  if (!isDone) return;
  if (!made.code) return say(`The code goes to ${made.email}.`);
  showOnce(`The code for ${whom}`, made.code, "It is entered in the app, under “forgotten password”.");
}

/** Shows a secret, until the operator is done with it. */
function showOnce(title, secret, explanation) {
  const dialog = element("dialog", { "aria-labelledby": "secret", onclose: () => dialog.remove() },
    element("h2", { id: "secret" }, title), codeBlock("It is shown once", secret).node, element("p", {}, explanation),
    element("div", { class: "row" }, button("Done", () => dialog.close(), { class: "primary" })));
  document.body.append(dialog);
  dialog.showModal();
}

/** Shows the tokens of an account, which operators make and revoke. */
function tokens(person, place) {
  const account = person.name;
  const load = () => show(place, async () => {
    const found = await get(path("tokens", person.api), { account });
    const revoke = (token) => async () => {
      if (await confirm({ title: `Revoke the token “${token.name}” of ${account}?`, explanation: "Within a second it is refused on every node. It cannot be undone, but a new one can be made.", action: "Revoke", isFinal: true, act: () => post(path("tokens", person.api, String(token.number), "revoke")) })) load();
    };
    const create = async () => {
      const name = element("input", { type: "text", value: "phone", maxlength: 255 });
      let made;
      if (!await confirm({ title: `Make a token for ${account}?`, explanation: "Whoever has it has the account.", action: "Make the token", fields: [field("Name of the token", name)], act: async () => { made = await post(path("tokens", person.api), { account, name: name.value.trim() }); } })) return;
      showOnce(`The token for ${account}`, made.text, "It is a bearer token of the API.");
      load();
    };
    return [element("h3", {}, "Tokens"), found.length ? table("Tokens", ["Name", "Made", "Last used", "Revoke"], found.map((token) => [token.name, time(token.created_at), token.last_used_at ? time(token.last_used_at) : "never", button("Revoke", revoke(token), { class: "small danger", "aria-label": `Revoke ${token.name}` })])) : element("p", {}, "None: the person cannot sign in until there is one."), button("Make a token …", create)];
  });
  load();
}

/** Shows the card of a person. */
export function personView(place, session, api, id) {
  const card = element("div");
  place.append(element("p", {}, element("a", { href: "#people" }, "People")), card);
  const load = () => show(card, async () => {
    const person = await get(path("people", api, id));
    const { reports, sessions, acts: deeds } = person;
    const keys = element("div");
    if (session.role === "all" && session.apis.find((each) => each.name === api)?.has_tokens) tokens(person, keys);
    return [
      element("h2", { class: "first" }, called(person), " ", element("small", {}, `${titleOf(session, api)} ${person.id}`), " ", suspended(person)),
      element("div", { class: "row acts", role: "group", "aria-label": "What can be done" }, acts(person, session, load)),
      facts(["Address", person.email || undefined, person.verified === true ? " (verified)" : person.verified === false ? " (not verified)" : ""],
        person.suspension && ["Suspended", time(person.suspension.since), person.suspension.reason ? `: ${person.suspension.reason}` : ""],
        ["Signed up", time(person.created_at)], ["Last seen", time(person.last_seen_at)],
        ["Failed sign-ins within the hour", person.failed_sign_ins], ["Files", person.storage_bytes === undefined || person.storage_bytes === null ? undefined : size(person.storage_bytes)],
        ["Reports", reports && `${reports.by} by, ${reports.about} about`], ["Accepted terms", person.accepted_terms]),
      keys,
      element("h3", {}, "Sessions"),
      sessions.length ? table("Sessions", ["Device", "Since", "Last used", "From"], sessions.map((each) => [each.device || "not named", time(each.started_at), time(each.used_at),
        each.address && session.role === "all" ? element("a", { href: `#log?text=${encodeURIComponent(`address=${each.address}`)}`, title: "Requests from this address" }, each.address) : each.address ?? ""])) : element("p", {}, "None: the person is signed out, or signs in elsewhere."),
      element("h3", {}, "What operators did"),
      deeds.length ? table("Acts", ["When", "Who", "What", "Why"], deeds.map((deed) => [time(deed.time), deed.actor, deed.action, deed.subject.replace(/^user [^:]*:? ?/, "")])) : element("p", {}, "Nothing yet."),
    ];
  }, load);
  load();
}
