"""Uses the operator's page of a running server in a browser, as an operator does: operators_page.py PROGRAM FACTS [PICTURES]

FACTS is a file of JSON: `url` of the page, `messenger` of the API, the id of the `process` that serves them, `links` that sign
in, `person` and `name` with the id and the name of a person of Messenger, `text` of that person's message, which is reported three
times, `request`, the id of a request, `removed`, the id of a person of Messenger who wrote a message, `account`, the name of one of
Monica that has a token, and `stranger`, the name of a person of Dunbar. The process is stopped in the end.
Screenshots are written into the folder PICTURES, if it is given.
"""

import asyncio
import json
import os
import pathlib
import signal
import sys
import tempfile
import traceback
import urllib.error
import urllib.request

# No folder of compiled modules beside the sources.
sys.dont_write_bytecode = True
from browser import LIMIT, Browser, Failure

CHECKS = (pathlib.Path(__file__).parent / "accessibility.js").read_text()


def check(condition, what):
    if not condition:
        raise Failure(what)


class Page:
    """A tab with the operator's page."""

    def __init__(self, tab, url, pictures):
        self.tab = tab
        self.url = url
        self.pictures = pictures
        self.clicks = 0

    async def click(self, selector):
        self.clicks += 1
        await self.tab.click(selector)

    async def press(self, label, within="main"):
        """Presses the button with a label, once the view that it is in is not about to be replaced."""
        self.clicks += 1
        if within == "main":
            await self.settled()
        await self.tab.click_on(
            f"[...document.querySelectorAll('{within} button')].find((each) => each.textContent.startsWith({json.dumps(label)}))")

    async def go(self, view):
        await self.tab.value(f"location.hash = {json.dumps('#' + view)}")
        await self.settled()

    async def settled(self):
        await self.tab.wait("document.querySelector('main').hasChildNodes() && !document.querySelector('[aria-busy]')")

    async def shows(self, text, within="main"):
        return await self.tab.wait(
            f"document.querySelector({json.dumps(within)})?.innerText.includes({json.dumps(text)})")

    async def reason(self, text):
        await self.tab.write("dialog textarea", text)

    async def looks(self, name):
        """Nothing is wrong with the view, light and dark, wide and on a phone."""
        await self.settled()
        for dark in [False, True]:
            for width in [1280, 320]:
                await self.tab.look(width, dark=dark)
                found = await self.tab.value(CHECKS)
                check(not found["findings"], f"{name} dark={dark} {width} pixels: {found['findings'][:20]}")
                if self.pictures:
                    kind = ("dark" if dark else "light") + ("-phone" if width < 600 else "")
                    await self.tab.picture(f"{self.pictures}/{name}-{kind}.png")
        await self.tab.look(1280)

    def finish(self):
        """The page made no mistakes, ran no stranger's text, and asked no other host for anything."""
        check(not self.tab.errors, f"errors of the page: {self.tab.errors}")
        check(not self.tab.dialogs, f"a stranger's text ran: {self.tab.dialogs}")
        others = [each for each in self.tab.requests if not each.startswith((self.url, "data:"))]
        check(not others, f"requests to other hosts: {others}")


async def sign_in(browser, facts, pictures):
    page = Page(await browser.tab(facts["url"] + "/"), facts["url"], pictures)
    await page.shows("concord operator link")
    await page.looks("sign-in")
    await page.tab.value(f"location.href = {json.dumps(facts['links'][0])}")
    await page.shows("operator anna", "header")
    check(await page.tab.value("location.hash") == "#overview", "the token stays in the address")
    check(await page.tab.value("document.cookie") == "", "scripts see the cookie")
    late = Page(await browser.tab(facts["links"][0]), facts["url"], None)
    await late.shows("This link was used")
    late.finish()
    return page


async def overview(page, facts):
    await page.go("overview")
    await page.shows("Messenger has 3 open reports")
    await page.shows("operator link")
    await page.looks("overview")
    await page.press("Back up now")
    await page.shows("The backup has begun", "#said")
    await page.press("Send a test")
    await page.tab.write("dialog input", "anna@example.com")
    await page.press("Send", "dialog")
    await page.shows("no mail server is set", "dialog")
    await page.press("Cancel", "dialog")


async def people(page, facts):
    await page.go("people")
    await page.shows("Write the beginning")
    # Find and reset: four clicks.
    page.clicks = 0
    await page.tab.write("main input[type=search]", facts["person"] + "zzz")
    await page.tab.key("Enter")
    await page.shows("No one was found")
    await page.tab.write("main input[type=search]", facts["find"])
    await page.tab.key("Enter")
    await page.shows("1 person")
    await page.looks("people")
    page.clicks = 0
    await page.click(f'main a[href="#person/messenger/{facts["person"]}"]')
    await page.shows(facts["name"])
    await page.looks("person")
    await page.press("Reset code")
    await page.looks("question")
    await page.press("Make the code", "dialog")
    await page.shows("shown once", "dialog")
    check(page.clicks <= 4, f"find and reset took {page.clicks} clicks")
    await page.press("Done", "dialog")

    await page.press("Suspend")
    await page.press("Suspend", "dialog")
    await page.shows("The reason is empty", "dialog")
    check(facts["name"] in await page.tab.value("document.querySelector('dialog h2').textContent"), "a question without a name")
    await page.reason("spam")
    await page.press("Suspend", "dialog")
    await page.shows("is suspended", "#said")
    await page.shows("suspended until")
    await page.press("Restore")
    await page.press("Restore", "dialog")
    await page.shows("is restored", "#said")
    await page.press("Sign out …")
    await page.reason("lost phone")
    await page.press("Sign", "dialog")
    await page.shows("is signed out", "#said")
    await page.press("Delete")
    await page.reason("asked by letter")
    await page.tab.write("dialog input", "not it")
    await page.press("Delete", "dialog")
    await page.shows("Nothing was done", "dialog")
    await page.press("Cancel", "dialog")
    await page.shows("people restore")


async def reports(page, facts):
    await page.go("reports")
    await page.shows(facts["text"], "#report")
    check(await page.tab.value("document.querySelectorAll('#queue li').length") == 3, "not three reports")
    check(not any("/files/" in each for each in page.tab.requests), "a picture was loaded by itself")
    await page.press("Show the picture")
    await page.tab.wait("document.querySelector('#report img')?.naturalWidth > 0")
    await page.looks("reports")
    first = await page.tab.value("document.querySelector('#queue [aria-current=true]').dataset.report")
    await page.tab.key("j")
    await page.tab.wait(f"document.querySelector('#queue [aria-current=true]').dataset.report !== {json.dumps(first)}")
    await page.tab.key("k")
    await page.tab.wait(f"document.querySelector('#queue [aria-current=true]').dataset.report === {json.dumps(first)}")
    await page.settled()
    await page.tab.key("n")
    await page.tab.wait("document.activeElement.matches('dialog textarea')")
    await page.tab.write("dialog textarea", "<b>asked</b> the other")
    await page.press("Add the note", "dialog")
    await page.shows("<b>asked</b> the other", "#report")
    await page.tab.key("d")
    await page.press("Dismiss", "dialog")
    await page.tab.wait("document.querySelectorAll('#queue li').length === 2")
    await page.settled()
    # Report to suspended: three clicks.
    page.clicks = 0
    await page.press("Act")
    await page.press("Act, and", "dialog")
    await page.tab.wait("document.querySelector('dialog textarea').matches(':focus, :invalid')")
    page.clicks = 1
    await page.reason("insults")
    await page.click("dialog .box:nth-of-type(2) input")
    await page.press("Act, and", "dialog")
    check(page.clicks <= 3, f"report to suspended took {page.clicks} clicks")
    await page.shows("is closed", "#said")
    await page.tab.wait("document.querySelectorAll('#queue li').length === 1")


async def log(page, facts):
    await page.go("log")
    await page.settled()
    page.clicks = 0
    await page.tab.write("main input[type=search]", facts["request"])
    await page.tab.key("Enter")
    await page.shows("401", "section.panel")
    check(page.clicks <= 2, "too many clicks")
    await page.looks("log")
    await page.tab.write("main input[type=search]", "no such line at all")
    await page.tab.key("Enter")
    await page.shows("No line matches")


async def ask(url):
    """Sends a request without credentials, for a line of the log."""
    try:
        await asyncio.to_thread(urllib.request.urlopen, url)
    except urllib.error.HTTPError:
        pass


async def live(page, facts):
    """New lines come by themselves, and only those that were asked for."""
    await page.go("log")
    await page.tab.write("main input[type=search]", "route=/chats")
    await page.click("main .box input")
    await page.tab.key("Enter")
    lines = "[...document.querySelectorAll('.log li')]"
    only = f"{lines}.every((line) => line.innerText.includes('/chats'))"
    await page.tab.wait(f"location.hash.includes('live=on') && {lines}.length > 0 && {only}")
    check(await page.tab.value("document.querySelector('main .box input').checked"), "live ends with a search")
    before = await page.tab.value(f"{lines}.length")
    await ask(facts["messenger"] + "/users/search?q=a")
    await ask(facts["messenger"] + "/chats")
    await page.tab.wait(f"{lines}.length === {before + 1}")
    check(await page.tab.value(only), "lines that no one asked for")
    await page.tab.value("document.querySelector('main select').value = 'error'")
    await page.press("Show")
    await page.shows("No line matches")


async def requests_of_a_person(page, facts):
    """The card of a person leads to the person's requests, and a request to the person."""
    await page.go(f"person/messenger/{facts['person']}")
    await page.shows("lines of the log")
    await page.click('main a[href^="#log?api=messenger&user="]')
    await page.shows("Requests of Messenger")
    await page.tab.wait("document.querySelectorAll('.log li').length > 0")
    check(await page.tab.value(f"[...document.querySelectorAll('.log li')].every((line) => line.innerText.includes('user={facts['person']}'))"),
          "requests of others")
    await page.click(".log li button")
    await page.shows("Took", "section.panel")
    await page.click(f'section.panel a[href="#person/messenger/{facts["person"]}"]')
    await page.shows("Sessions")


async def tokens(page, facts):
    """The tokens of an account of Monica."""
    await page.go(f"people?text={facts['account']}&api=monica")
    await page.click("#found a")
    await page.shows("Tokens")
    await page.press("Make a token")
    await page.tab.write("dialog input", "laptop")
    await page.press("Make the token", "dialog")
    await page.shows("shown once", "dialog")
    check(len(await page.tab.value("document.querySelector('dialog input').value")) == 43, "no token")
    await page.press("Done", "dialog")
    await page.shows("laptop")
    await page.looks("tokens")
    await page.click('[aria-label="Revoke laptop"]')
    await page.press("Revoke", "dialog")
    await page.tab.wait("!document.querySelector('main').innerText.includes('laptop')")
    await page.shows("Make a token")


async def stranger(page, facts):
    """A name that is an attack is text, in the list, on the card and in questions."""
    await page.go(f"people?text={facts['stranger'][:4]}&api=dunbar")
    await page.shows(facts["stranger"])
    await page.click("#found a")
    await page.shows(facts["stranger"], "h2")
    await page.press("Suspend")
    await page.shows(facts["stranger"], "dialog h2")
    await page.press("Cancel", "dialog")


async def to_the_end(browser, page, facts):
    """What a person wrote is removed, the person is exported and deleted."""
    person = facts["removed"]
    await page.go(f"person/messenger/{person}")
    await page.press("Remove what they wrote")
    await page.reason("spam")
    await page.tab.write("dialog input", person)
    await page.press("Remove", "dialog")
    await page.shows("has nothing left", "#said")
    await page.shows("people remove-content")
    with tempfile.TemporaryDirectory() as folder:
        await browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=folder)
        await page.press("Export")
        await page.reason("asked by letter")
        await page.press("Export", "dialog")
        archive = pathlib.Path(folder) / f"messenger-{person}.zip"
        async with asyncio.timeout(LIMIT):
            while not archive.exists():
                await asyncio.sleep(0.05)
        check(archive.read_bytes().startswith(b"PK"), "no ZIP file")
    await page.go("people")
    await page.go(f"person/messenger/{person}")
    await page.shows("people export")
    await page.press("Delete")
    await page.reason("asked by letter")
    await page.tab.write("dialog input", person)
    await page.press("Delete", "dialog")
    await page.shows("is deleted", "#said")
    await page.tab.wait("location.hash === '#people'")
    await page.go(f"person/messenger/{person}")
    await page.shows("There is no person")


async def sign_out(browser, page, facts):
    await page.click("#sign-out")
    await page.shows("You are signed out")
    await page.tab.value("location.hash = '#people?text=bob'")
    check(await page.tab.value("document.getElementById('views').hidden"), "views without a session")
    other = Page(await browser.tab(facts["url"] + "/#people?text=bob"), facts["url"], None)
    await other.shows("concord operator link")
    other.finish()
    await page.tab.value(f"location.href = {json.dumps(facts['links'][1])}")
    await page.shows("operator anna", "header")


def is_listening(url):
    try:
        urllib.request.urlopen(url, timeout=60).close()
        return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


async def late_answer(page):
    """The answer to an earlier request does not hide that a later one had none."""
    await page.tab.value("""(() => {
        const ask = window.fetch;
        window.fetch = (...request) => {
            window.fetch = () => Promise.reject(new TypeError("no answer"));
            return new Promise((answered) => {
                window.answerLate = async () => {
                    answered(await ask(...request));
                    window.fetch = ask;
                    await new Promise((done) => setTimeout(done, 0));
                };
            });
        };
    })()""")
    await page.tab.value("location.hash = '#people?text=b'")
    await page.tab.wait("window.answerLate")
    await page.tab.value("location.hash = '#people?text=c'")
    await page.shows("The server does not answer", "#away")
    await page.tab.value("window.answerLate()")
    await page.shows("The server does not answer", "#away")
    await page.tab.value("location.hash = '#people?text=d'")
    await page.tab.wait("document.querySelector('#away').hidden")


async def two_and_none(browser, page, facts):
    """Two operators decide on one report, and then the server goes away."""
    await page.go("reports")
    await page.settled()
    other = Page(await browser.tab(facts["url"] + "/#reports"), facts["url"], None)
    await other.settled()
    await other.press("Dismiss")
    await page.press("Dismiss")
    await other.press("Dismiss", "dialog")
    await other.shows("is dismissed", "#said")
    await page.press("Dismiss", "dialog")
    await page.shows("was closed by operator anna", "dialog")
    await page.press("Cancel", "dialog")
    other.finish()
    await late_answer(page)
    os.kill(facts["process"], signal.SIGTERM)
    # Until then the server still answers.
    while is_listening(facts["url"]):
        await asyncio.sleep(0.05)
    await page.tab.value("location.hash = '#people?text=a'")
    await page.shows("The server does not answer", "#away")
    await page.shows("Try again")


async def main(program, file, pictures=None):
    facts = json.loads(pathlib.Path(file).read_text())
    async with Browser.started(program) as browser:
        page = await sign_in(browser, facts, pictures)
        for view in [overview, people, reports, log, live, requests_of_a_person, tokens, stranger]:
            await view(page, facts)
        await to_the_end(browser, page, facts)
        await sign_out(browser, page, facts)
        await two_and_none(browser, page, facts)
        page.finish()


if __name__ == "__main__":
    try:
        asyncio.run(main(*sys.argv[1:]))
    except Exception:
        traceback.print_exc(file=sys.stdout)
        sys.exit(1)
    print("operator: works")
