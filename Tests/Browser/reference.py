"""Uses the reference pages of running servers in a browser, as people do: reference.py PROGRAM SCENARIO ARGUMENT …

messenger URL FILE       two people chat: one sends with the page, the other sees it in the console; a file goes up and down
deuce-diary URL TOKEN    a deuce that is logged with the page arrives in the console of another tab
dunbar URL PICTURE       a post with a picture, by the browser and by the page's line of curl
looks URL …              every page, light and dark, wide and on a phone, with everything opened
"""

import asyncio
import json
import pathlib
import sys
import tempfile
import traceback

# No folder of compiled modules beside the sources.
sys.dont_write_bytecode = True
from browser import Browser, Failure

CHECKS = (pathlib.Path(__file__).parent / "accessibility.js").read_text()


def check(condition, what):
    if not condition:
        raise Failure(what)


class Page:
    """A tab with the reference of an API."""

    def __init__(self, tab):
        self.tab = tab

    @staticmethod
    async def opened(browser, url, **look):
        return Page(await browser.tab(url + "/", **look))

    async def show(self, operation):
        """Opens an operation by its entry in the list, unless it is open."""
        if not await self.tab.value(f"document.querySelector('#{operation}').open"):
            await self.tab.click(f'#list a[href="#{operation}"]')
        await self.tab.wait(f"document.querySelector('#{operation} .try') !== null")

    async def write(self, operation, label, text):
        """Fills the field with a label."""
        field = await self.tab.wait(f"""(() => {{
            const label = [...document.querySelectorAll('#{operation} label')]
                .find((label) => label.textContent.startsWith({json.dumps(label)}));
            label?.closest("details.folded")?.setAttribute("open", "");
            return label?.htmlFor;
        }})()""")
        await self.tab.write(f"#{field}", text)
        return field

    async def send(self, operation, body=None, **parameters):
        """Calls an operation with the form, and returns its status and body."""
        await self.show(operation)
        if body is not None:
            await self.write(operation, "Body (JSON)", json.dumps(body))
        for name, value in parameters.items():
            await self.write(operation, f"{name} (", str(value))
        await self.tab.value(f"document.querySelector('#{operation} .result > p').textContent = ''")
        await self.tab.click(f"#{operation} .try .primary")
        return await self.answer(operation)

    async def answer(self, operation):
        status = await self.tab.wait(f"""document.querySelector('#{operation} .result > p')?.innerText
            .match(/^(?!Sending).+/)?.[0]""")
        text = await self.tab.value(f"document.querySelector('#{operation} .result pre')?.innerText")
        return status.split()[0], json.loads(text) if text and text[0] in "{[" else text

    async def curl(self, operation, folder):
        """Runs the line of curl as it stands, and returns the answer."""
        line = await self.tab.value(f"document.querySelector('#{operation} pre[aria-label=curl]').innerText")
        process = await asyncio.create_subprocess_exec(
            "/bin/sh", "-c", line, cwd=folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
        output, errors = await process.communicate()
        check(process.returncode == 0, f"{line}\n{errors.decode()}")
        return json.loads(output)

    async def connect(self):
        await self.tab.value("document.querySelector('#console').open = true")
        await self.tab.click("#console .primary")
        await self.tab.wait("document.querySelector('#socket-state').innerText === 'Connected.'")

    async def frame(self, type, **changes):
        """Sends one of the client's frames, which begins as the page's example."""
        index = await self.tab.wait(f"""[...document.querySelectorAll('#console option')]
            .find((option) => option.innerText === {json.dumps(type)})?.value""")
        await self.tab.value(f"""(() => {{
            const choice = document.querySelector('#console select');
            choice.value = {json.dumps(index)};
            choice.dispatchEvent(new Event('change'));
        }})()""")
        if changes:
            example = json.loads(await self.tab.value("document.querySelector('#console textarea').value"))
            await self.tab.write("#console textarea", json.dumps(example | changes))
        await self.tab.click("#console form [type=submit]")

    async def arrived(self, **members):
        """Waits for a frame with these members."""
        text = await self.tab.wait(f"""[...document.querySelectorAll('#frames .received code')]
            .map((code) => code.innerText).find((text) => {{
                const frame = JSON.parse(text);
                return Object.entries({json.dumps(members)}).every(([name, value]) => frame[name] === value);
            }})""")
        return json.loads(text)

    async def who(self):
        """Returns what the header says of the session."""
        return await self.tab.value("document.querySelector('#who-state').innerText")

    async def swift(self, operation):
        return await self.tab.value(f"""[...document.querySelectorAll('#{operation} .try figure')].at(-1).innerText
            .replace(/^Copy\\n/m, "")""")

    def finish(self, url):
        """The page made no mistakes, and asked no other host for anything."""
        check(not self.tab.errors, f"errors of the page: {self.tab.errors}")
        host = url.split("//")[1]
        others = [each for each in self.tab.requests
                  if each.split("//")[-1].split("/")[0] != host and not each.startswith(("data:", "blob:"))]
        check(not others, f"requests to other hosts: {others}")


async def sign_up(page, name):
    """Registers with the page, signs in, and takes the answer's token with one click."""
    status, user = await page.send(
        "register", {"username": name, "email": f"{name}@example.com", "password": "secret123"})
    check(status == "201", f"{status} {user}")
    status, _ = await page.send("login", {"username": name, "password": "secret123"})
    check(status == "200", status)
    await page.tab.click("#login .offer button")
    await page.tab.wait("document.querySelector('#session-state').innerText.includes('sent with the token')")
    check(await page.who() == f"Signed in as {name}", await page.who())
    return user["id"]


async def messenger(browser, url, file):
    alice, bob = await Page.opened(browser, url), await Page.opened(browser, url)
    await sign_up(alice, "alice")
    friend = await sign_up(bob, "bob")
    status, chat = await alice.send("createChat", {"type": "direct", "member_ids": [friend]})
    check(status == "201", f"{status} {chat}")

    await bob.connect()
    await bob.frame("auth")
    await bob.arrived(type="auth_ok")
    await bob.frame("subscribe", chat_id=chat["id"])
    await bob.arrived(type="subscribed")

    # What a shell or a page could misread arrives as it was written.
    text = """it's "quoted" <b>$HOME</b> `id` \\ 🎉"""
    status, sent = await alice.send("sendMessage", {"content": text, "type": "text"}, id=chat["id"])
    check(status == "201", f"{status} {sent}")
    check((await bob.arrived(type="message", id=sent["id"]))["content"] == text, "another text")
    again = await alice.curl("sendMessage", "/tmp")
    check(again["content"] == text and again["id"] > sent["id"], f"{again}")
    await bob.arrived(type="message", id=again["id"])
    check(await bob.tab.value("document.querySelectorAll('#frames b').length") == 0, "a frame is read as HTML")

    await first_result(alice, chat["id"])
    await files(alice, file)

    await bob.tab.click("#console .row button:nth-child(2)")
    await bob.tab.wait("document.querySelector('#socket-state').innerText.includes('1000')")
    await bob.connect()

    await keyboard(alice)
    status, _ = await alice.send("deleteMe", {"password": "secret123"})
    check(status == "204" and len(alice.tab.dialogs) == 1, f"{status} {alice.tab.dialogs}")
    check(await alice.tab.value("sessionStorage.length") == 0, "a token is left")
    check(await alice.who() == "Not signed in", await alice.who())
    check((await alice.send("getMe"))[0] == "401", "the token is still used")
    check(await alice.tab.value("document.querySelector('#getMe .result > p a')?.hash") == "#session", "no way to sign in")
    await bob.tab.click("#session-forget")
    check(await bob.tab.value("sessionStorage.length") == 0, "a token is left")
    for page in [alice, bob]:
        page.finish(url)


async def first_result(page, chat):
    """The form and its button are in the first view. It is filled with the chat's id, and says that it is waiting."""
    tab = page.tab
    for width, height in [(1280, 900), (1100, 800), (390, 844)]:
        await tab.look(width, height)
        await tab.value("document.querySelector('#sendMessage').open = false, location.hash = ''")
        await tab.value("location.hash = 'sendMessage'")
        bottom = await tab.wait("document.querySelector('#sendMessage').open "
                                "&& document.querySelector('#sendMessage .primary').getBoundingClientRect().bottom")
        check(0 < bottom < height, f"the button of sendMessage ends at {bottom} of {height} pixels")
    await tab.look(1280, 900)
    await page.show("listMessages")
    known = await tab.value("document.querySelector('#listMessages .try input').value")
    check(known == str(chat), f"the form has chat {known} and not {chat}")
    await page.write("listMessages", "limit (", "7")
    check("with the example's values" in await page.swift("listMessages"), await page.swift("listMessages"))

    # An answer is waited for.
    await tab.value("""(() => {
        const { fetch } = window;
        window.fetch = async (...request) => {
            await new Promise((go) => { window.go = go; });
            window.fetch = fetch;
            return fetch(...request);
        };
    })()""")
    await page.show("getMe")
    await tab.click("#getMe .try .primary")
    await tab.wait("document.querySelector('#getMe .result > p').innerText === 'Sending …' && !!window.go")
    await tab.value("window.go()")
    status, _ = await page.answer("getMe")
    check(status == "200", status)

    # The call of Swift is what an app writes, with the values of the form.
    await page.show("login")
    await page.write("login", "Body (JSON)", json.dumps({"username": 'a"b', "password": "p\\w"}))
    call = await page.swift("login")
    check('try await client.signIn(username: "a\\"b", password: "p\\\\w")' in call, call)
    await page.write("sendMessage", "Body (JSON)", json.dumps({"content": "Hi", "type": "text"}))
    call = await page.swift("sendMessage")
    check(f'client.send(Messenger.SendMessage(chat: {chat}, content: "Hi"))' in call, call)


async def files(page, path):
    """A file is sent, and fetched at the address where the page is."""
    await page.show("uploadFile")
    await page.tab.choose_file("#uploadFile [type=file]", path)
    status, file = await page.send("uploadFile")
    check(status == "201", f"{status} {file}")
    await page.show("downloadFile")
    status, content = await page.send("downloadFile")
    check(status == "200", f"{status} {content}")
    saved = await page.tab.wait("document.querySelector('#downloadFile .result a[download]')?.innerText")
    size = pathlib.Path(path).stat().st_size
    check(saved == f"Save {size} bytes", saved)


async def keyboard(page):
    """Calls an operation without a mouse: from the top of the page to the filter, its entry, its form, and the answer."""
    tab = page.tab
    await tab.call("Page.bringToFront")
    await tab.value("document.activeElement.blur(), scrollTo(0, 0), getSelection().removeAllRanges()")
    await tab.value("document.querySelector('.skip').focus()")

    async def reach(condition):
        for _ in range(400):
            if await tab.value(f"(() => {{ const at = document.activeElement; return {condition}; }})()"):
                return
            await tab.key("Tab")
        raise Failure(f"the keyboard does not reach: {condition}")

    await reach("at.id === 'filter'")
    await tab.call("Input.insertText", text="get getme")
    await tab.wait("document.querySelector('#matches').innerText.startsWith('1 of')")
    await reach("at.getAttribute('href') === '#getMe'")
    await tab.key("Enter")
    await tab.wait("document.activeElement.matches('#getMe > summary') && document.querySelector('#getMe').open")
    await reach("at.matches('#getMe .primary')")
    check(await tab.value("getComputedStyle(document.activeElement).outlineStyle") == "solid", "the focus is not shown")
    await tab.key("Enter")
    status, me = await page.answer("getMe")
    check(status == "200" and me["username"] == "alice", f"{status} {me}")
    await tab.wait("document.activeElement.matches('#getMe .primary')")
    await tab.write("#filter", "")


async def deuce_diary(browser, url, token):
    john, watcher = await Page.opened(browser, url), await Page.opened(browser, url)
    await john.tab.write("#session input", token)
    await john.tab.click("#session [type=submit]")
    await john.tab.wait("document.querySelector('#session-state').innerText.includes('sent with the token')")
    status, group = await john.send("createGroup", {"name": "Throne Room"})
    check(status in ["200", "201"], f"{status} {group}")

    await watcher.connect()
    await watcher.frame("join_group", groupId=group["id"])
    # The contract has no answer to the frame: a deuce is logged until one arrives.
    for attempt in range(100):
        status, deuce = await john.send(
            "logDeuce", {"groupIds": [group["id"]], "location": "Home", "thoughts": f"<i>A throne</i> {attempt}"})
        check(status in ["200", "201"], f"{status} {deuce}")
        if await watcher.tab.value("document.querySelector('#frames .received') !== null"):
            break
    await watcher.arrived(type="deuce_logged")

    # A socket that is opened with a token hears only what its user may.
    await john.tab.value("document.querySelector('#console').open = true")
    await john.tab.click("#console input[type=checkbox]")
    await john.connect()
    await john.frame("join_group", groupId="6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6071")
    await john.arrived(type="error")
    check(any(each.startswith("ws:") and token in each for each in john.tab.requests), "the socket has no token")

    await john.show("getUser")
    check((await john.curl("getUser", "/tmp"))["id"] == "user_john", "curl has another user")
    for page in [john, watcher]:
        page.finish(url)


async def dunbar(browser, url, picture):
    page = await Page.opened(browser, url)
    account = {"username": "jdoe", "password": "secret123", "displayName": "John Doe", "email": "jdoe@example.com"}
    status, user = await page.send("register", account)
    check(status == "201", f"{status} {user}")
    check(await page.who() == "Signed in as jdoe", await page.who())
    status, answer = await page.send("logout")
    check(status == "200" and await page.who() == "Not signed in", f"{status} {answer} {await page.who()}")
    status, answer = await page.send("getFeed")
    check(status == "401", f"{status} {answer}")
    status, user = await page.send("login", {"username": "jdoe", "password": "secret123"})
    check(status == "200" and await page.who() == "Signed in as jdoe", f"{status} {user}")

    await page.show("createPost")
    await page.tab.value("""(() => {
        const form = document.querySelector('#createPost select');
        form.value = 'multipart/form-data';
        form.dispatchEvent(new Event('change', { bubbles: true }));
    })()""")
    await page.write("createPost", "content (optional)", "A picture's post")
    await page.tab.choose_file("#createPost [type=file]", picture)
    status, post = await page.send("createPost")
    check(status == "201" and len(post["media"]) == 1, f"{status} {post}")
    await page.tab.wait("document.querySelector('#createPost .result img')?.naturalWidth > 0")

    with tempfile.TemporaryDirectory() as folder:
        # curl has a cookie of its own, and reads the picture from the folder in which it runs.
        (pathlib.Path(folder) / pathlib.Path(picture).name).write_bytes(pathlib.Path(picture).read_bytes())
        await page.curl("login", folder)
        again = await page.curl("createPost", folder)
        check(again["content"] == "A picture's post" and len(again["media"]) == 1, f"{again}")
    page.finish(url)


async def planted(tab):
    """The checks of the looks find what they are for."""
    await tab.value("""(() => {
        const mistakes = document.createElement("div");
        mistakes.id = "mistakes";
        for (const [tag, text] of [["p", "pale"], ["button", ""], ["input", ""], ["h6", "deep"], ["img", ""]]) {
            const mistake = document.createElement(tag);
            mistake.append(text);
            mistakes.append(mistake);
        }
        mistakes.firstChild.id = "mistakes";
        mistakes.firstChild.style.color = "rgb(128, 128, 128)";
        mistakes.firstChild.style.minWidth = "5000px";
        mistakes.children[2].style.borderColor = "rgb(200, 200, 200)";
        document.body.append(mistakes);
    })()""")
    for width in [360, 1280]:
        await tab.look(width)
        findings = "\n".join((await tab.value(CHECKS))["findings"])
        for kind in ["contrast", "border", "no name: <button", "no name: <input", "no text for a picture",
                     "there twice", "level 6 after", "scrolls sideways"]:
            check(kind in findings, f"not found: {kind}\n{findings}")
    await tab.value("document.querySelector('#mistakes').remove()")

    # The policy holds, and what it refuses is an error of the page.
    await tab.value("""document.body.append(
        Object.assign(document.createElement("script"), { text: "window.ran = true" }))""")
    async with asyncio.timeout(300):
        while not any("Content Security Policy" in error for error in tab.errors):
            await asyncio.sleep(0.05)
    check(await tab.value("window.ran === undefined"), "a script within the page runs")
    tab.errors.clear()


async def looks(browser, *urls):
    for url in urls:
        page = await Page.opened(browser, url)
        tab = page.tab
        await planted(tab)
        operations = await tab.value("document.querySelectorAll('details.operation').length")
        linked = await tab.value("document.querySelectorAll('#list a .method').length")
        check(operations == linked > 0, f"{url}: {operations} operations, {linked} in the list")
        check(await tab.value("document.querySelectorAll('.content').length") == 0, "closed operations are made")
        for isOpen in [False, True]:
            if isOpen:
                every = "for (const each of document.querySelectorAll('details')) each.open = true"
                await tab.value(every)
                await tab.wait(f"document.querySelectorAll('.content').length === {operations}")
                await tab.value(every)
            for dark in [False, True]:
                for width in [1280, 320]:
                    await tab.look(width, dark=dark)
                    found = await tab.value(CHECKS)
                    check(not found["findings"], f"{url} dark={dark} {width} pixels: {found['findings'][:20]}")
                    check(found["texts"] > 50 and found["controls"] > 20, f"{url}: {found}")
        # Ids have more digits than numbers of JavaScript.
        text = '{"id":9223372036854775807,"none":[ ],"some":[1,{"a":"b, {c}: \\"d\\""}]}'
        lines = await tab.value(f"import('/reference/answer.js').then(({{ pretty }}) => pretty({json.dumps(text)}))")
        check(lines == json.dumps(json.loads(text), indent=2), lines)
        lines = await tab.value("document.querySelectorAll('pre[aria-label^=Swift]').length")
        check(lines == operations, f"{url}: {lines} lines of Swift for {operations} operations")
        others = await tab.value("[...document.querySelectorAll('#neighbors a')].map((link) => link.href)")
        check(sorted(others) == sorted(each + "/" for each in urls if each != url), f"{url}: links to {others}")
        check(not tab.refusals, f"{url}: {tab.refusals}")
        page.finish(url)


async def main(program, scenario, *arguments):
    scenarios = {"messenger": messenger, "deuce-diary": deuce_diary, "dunbar": dunbar, "looks": looks}
    async with Browser.started(program) as browser:
        await scenarios[scenario](browser, *arguments)


if __name__ == "__main__":
    try:
        asyncio.run(main(*sys.argv[1:]))
    except Exception:
        traceback.print_exc(file=sys.stdout)
        sys.exit(1)
    print("reference: works")
