"""Uses the operator's page of a running server in a browser, as an operator does: operator.py PROGRAM FACTS [PICTURES]

FACTS is a file of JSON: `url` of the page, `link`s that sign in, `person` and `name` with the id and the name of a person of
Messenger, `text` of that person's message, which is reported three times, and `request`, the id of a request.
Screenshots are written into the folder PICTURES, if it is given.
"""

import asyncio
import json
import pathlib
import sys
import traceback

# No folder of compiled modules beside the sources.
sys.dont_write_bytecode = True
from browser import Browser, Failure

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
        """Presses the button with a label."""
        await self.tab.wait(f"""(() => {{
            const button = [...document.querySelectorAll('{within} button')].find((each) =>
                each.textContent.startsWith({json.dumps(label)}) && !each.disabled);
            document.querySelectorAll('[data-wanted]').forEach((each) => delete each.dataset.wanted);
            if (button) button.dataset.wanted = "1";
            return button !== undefined;
        }})()""")
        await self.click("[data-wanted]")

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
    await page.shows("people")
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
    first = await page.tab.value("document.querySelector('#queue [aria-current]').dataset.report")
    await page.tab.key("j")
    await page.tab.wait(f"document.querySelector('#queue [aria-current]').dataset.report !== {json.dumps(first)}")
    await page.tab.key("k")
    await page.tab.wait(f"document.querySelector('#queue [aria-current]').dataset.report === {json.dumps(first)}")
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


async def two_and_none(browser, page, facts):
    """Two operators decide on one report, and then the server is away."""
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
    await page.tab.value("window.fetch = () => Promise.reject(new TypeError('away'))")
    await page.tab.value("location.hash = '#people?text=a'")
    await page.shows("The server does not answer", "#away")
    await page.shows("Try again")
    other.finish()


async def main(program, file, pictures=None):
    facts = json.loads(pathlib.Path(file).read_text())
    async with Browser.started(program) as browser:
        page = await sign_in(browser, facts, pictures)
        for view in [overview, people, reports, log]:
            await view(page, facts)
        await two_and_none(browser, page, facts)
        page.finish()


if __name__ == "__main__":
    try:
        asyncio.run(main(*sys.argv[1:]))
    except Exception:
        traceback.print_exc(file=sys.stdout)
        sys.exit(1)
    print("operator: works")
