// People: one search over all APIs, and a card of one person with everything that an operator can do.

import { button, field, table } from "../reference/elements.js";
import { get, path, post } from "./asking.js";
import { a, acts, address, apiOf, choice, confirm, count, div, empty, facts, h2, h3, input, p, say, search, searchField, show, showSecret, size, small, strong, time, until, viewOf } from "./parts.js";

const called = (person) => person.name || person.email || person.id;

const suspended = ({ suspension }) => suspension && strong({ class: "bad" }, suspension.until ? ["suspended until ", suspension.until.slice(0, 16).replace("T", " ")] : "suspended");

/** Shows the search, with the people whom `fields.text` finds. */
export function peopleView(place, session, fields) {
  const text = searchField(fields.text, "name, address or id");
  const api = choice([["", "All APIs"], ...session.apis.map(({ name, title }) => [name, title])], fields.api);
  const found = div({ id: "found" });
  const find = () => show(found, async () => {
    if (!fields.text) return empty("Write the beginning of a name or of an e-mail address, or an id. In Messenger and Dunbar any part of a name does.");
    const people = await get(path("people"), { text: fields.text, api: fields.api, limit: 50 });
    if (!people.length) return empty(`No one was found for “${fields.text}”. Try fewer letters, the e-mail address, or the id that a report or a log line has.`);
    return [p({ role: "status" }, count(people.length, "person", "people"), people.length >= 50 ? ": there may be more, so write more of the name." : "."),
      table("People", ["Name", "API", "Id", "Address", "Since", "State"], people.map((person) => [
        a({ href: address(person.api, person.id) }, called(person)), apiOf(session, person.api).title, person.id, person.email ?? "", time(person.created_at), suspended(person) ?? "usual"]))];
  }, find);
  place.append(h2("People"), search("people", "Find", { text: ["Find people", text], api: ["In", api] }, find), found);
  find();
  text.focus();
}

/** Returns the buttons of what can be done with a person. Each asks first, and `load` shows what has become of it. */
function deeds(person, session, load) {
  const { api, id } = person;
  const name = called(person);
  const has = apiOf(session, api);
  const whom = `${name} (${has.title} ${id})`;
  const mayAll = session.role === "all";
  const act = (step, fields) => (reason) => post(path("people", api, id, step), { reason, ...fields?.() });
  const ask = (label, question, done = load) => button(label, async () => { if (await confirm(question)) done(); }, { class: question.isFinal && "danger" });
  const said = (words) => () => {
    say(`${whom} ${words}`);
    load();
  };
  const end = until();
  return [
    person.suspension
      ? ask("Restore", { title: `Restore ${whom}?`, explanation: "They can go on at once, with the sessions that they had.", action: `Restore ${name}`, reason: "free", act: act("restore") }, said("is restored."))
      : ask("Suspend …", { title: `Suspend ${whom}?`, explanation: "Within a second every request of theirs is refused with the reason, and their sockets are closed. What they wrote stays. Restore undoes it.", action: `Suspend ${name}`, reason: "required", fields: [end.node], act: act("suspend", () => ({ until: end.value() })) }, said("is suspended. Restore undoes it.")),
    ask("Sign out …", { title: `Sign ${whom} out everywhere?`, explanation: "All sessions end within a second. They can sign in again.", action: `Sign ${name} out`, reason: "required", act: act("sign-out") }, said("is signed out.")),
    has.has_passwords && button("Reset code …", () => resetCode(person, whom)),
    has.has_reports && ask("Remove what they wrote …", { title: `Remove all that ${whom} wrote?`, explanation: "Messages, posts, comments and entries are removed, and it cannot be undone. The account stays.", action: `Remove what ${name} wrote`, reason: "required", isFinal: true, word: id, act: act("remove-content") }, said("has nothing left that others see.")),
    mayAll && ask("Export …", { title: `Export all that is kept of ${whom}?`, explanation: "A ZIP file with what the person wrote, too. Give it to that person alone.", action: "Export", reason: "required", act: (reason) => { location.href = `${path("people", api, id, "export")}?${new URLSearchParams({ reason })}`; } }),
    mayAll && ask("Delete …", { title: `Delete ${whom}?`, explanation: "The account goes with everything that belongs to it. It cannot be undone: export it first if you may need it.", action: `Delete ${name}`, reason: "required", isFinal: true, word: id, act: act("delete") }, () => {
      say(`${whom} is deleted.`, false, true);
      location.hash = "#people";
    }),
  ];
}

async function resetCode(person, whom) {
  const send = input({ type: "checkbox" });
  let made;
  const isDone = await confirm({
    title: `Make a code for a new password of ${whom}?`, action: "Make the code",
    explanation: "It is valid for 15 minutes, and once, and ends all sessions. Whoever has it has the account: make sure to whom you give it.",
    fields: [person.email && field(`Send it to ${person.email}, and do not show it`, send)],
    act: async () => { made = await post(path("people", person.api, person.id, "reset-code"), { send: send.checked }); },
  });
  if (!isDone) return;
  if (!made.code) return say(`The code goes to ${made.email}.`);
  showSecret(`The code for ${whom}`, made.code, "It is entered in the app, under “forgotten password”.");
}

/** Shows the tokens of an account, which operators make and revoke. */
function tokens(person, place) {
  const account = person.name;
  const revoke = (token) => button("Revoke", async () => {
    if (await confirm({ title: `Revoke the token “${token.name}” of ${account}?`, explanation: "Within a second it is refused on every node. It cannot be undone, but a new one can be made.", action: "Revoke", isFinal: true, act: () => post(path("tokens", person.api, String(token.number), "revoke")) })) load();
  }, { class: "small danger", "aria-label": `Revoke ${token.name}` });
  const create = async () => {
    const name = input({ type: "text", value: "phone", maxlength: 255 });
    let made;
    if (!await confirm({ title: `Make a token for ${account}?`, explanation: "Whoever has it has the account.", action: "Make the token", fields: [field("Name of the token", name)], act: async () => { made = await post(path("tokens", person.api), { account, name: name.value.trim() }); } })) return;
    showSecret(`The token for ${account}`, made.text, "It is a bearer token of the API.");
    load();
  };
  const load = () => show(place, async () => {
    const found = await get(path("tokens", person.api), { account });
    return [h3("Tokens"),
      found.length ? table("Tokens", ["Name", "Made", "Last used", "Revoke"], found.map((token) => [token.name, time(token.created_at), time(token.last_used_at, "never"), revoke(token)])) : p("None: the person cannot sign in until there is one."),
      button("Make a token …", create)];
  });
  load();
}

/** Shows the card of a person. */
export function personView(place, session, api, id) {
  const card = div();
  const mayAll = session.role === "all";
  const { title, has_tokens } = apiOf(session, api);
  const listed = (title, headings, rows, none) => [h3(title), rows.length ? table(title, headings, rows) : p(none)];
  const load = () => show(card, async () => {
    const person = await get(path("people", api, id));
    const { reports, suspension, verified, storage_bytes: bytes } = person;
    const keys = div();
    if (mayAll && has_tokens) tokens(person, keys);
    return [
      h2(called(person), " ", small(`${title} ${id}`), " ", suspended(person)),
      acts(deeds(person, session, load)),
      facts(["Address", person.email || undefined, verified === true ? " (verified)" : verified === false ? " (not verified)" : ""],
        suspension && ["Suspended", time(suspension.since), suspension.reason ? `: ${suspension.reason}` : ""],
        ["Signed up", time(person.created_at)], ["Last seen", time(person.last_seen_at)],
        ["Failed sign-ins within the hour", person.failed_sign_ins], ["Files", bytes === undefined ? undefined : size(bytes)],
        ["Reports", reports && `${reports.by} by, ${reports.about} about`], ["Accepted terms", person.accepted_terms],
        mayAll && ["Requests", a({ href: viewOf("log", { api, user: id }) }, "lines of the log")]),
      keys,
      listed("Sessions", ["Device", "Since", "Last used", "From"], person.sessions.map((each) => [each.device || "not named", time(each.started_at), time(each.used_at), each.address ?? ""]), "None: the person is signed out, or signs in elsewhere."),
      listed("What operators did", ["When", "Who", "What", "Why"], person.acts.map((deed) => [time(deed.time), deed.actor, deed.action, deed.subject.replace(/^user [^:]*:? ?/, "")]), "Nothing yet."),
    ];
  }, load);
  place.append(p(a({ href: "#people" }, "People")), card);
  load();
}
