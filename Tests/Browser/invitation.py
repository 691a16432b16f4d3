"""Follows an invite's link in a browser, as its receiver does: invitation.py PROGRAM URL INVITE ENDED STORE CREATOR GROUP

INVITE and ENDED are the ids of an invite and of one that has ended; CREATOR and GROUP are the names that the page shows,
STORE is the address at which it offers the app.
"""

import asyncio
import sys
import traceback

# No folder of compiled modules beside the sources.
sys.dont_write_bytecode = True
from browser import Browser
from reference import CHECKS, check

SHOWN = "document.readyState === 'complete' && document.querySelector('h1') !== null"


async def follow(browser, link, heading):
    """Opens a link, and returns its tab after it has been looked at, narrow and wide, light and dark."""
    tab = await browser.tab(link, ready=SHOWN)
    shown = await tab.value("document.querySelector('h1').innerText")
    check(shown == heading, f"{shown!r} is not {heading!r}")
    for dark in [False, True]:
        for width in [320, 1280]:
            await tab.look(width, dark=dark)
            found = await tab.value(CHECKS)
            check(not found["findings"], f"dark={dark} {width} pixels: {found['findings']}")
        # The policy admits the page's own style.
        color = await tab.value("getComputedStyle(document.body).backgroundColor")
        check(color == ("rgb(17, 17, 17)" if dark else "rgb(255, 255, 255)"), f"dark={dark}: {color}")
    check(await tab.value("document.scripts.length + document.images.length") == 0, "a name became an element")
    check(not tab.dialogs and not tab.errors, f"{tab.dialogs} {tab.errors}")
    return tab


async def main(program, url, invite, ended, store, creator, group):
    async with Browser.started(program) as browser:
        tab = await follow(browser, f"{url}/join/{invite}", f"{creator} invites you to {group}")
        where = await tab.value("location.href")
        check(where == f"{url}/invitation/{invite}", where)
        links = await tab.value("[...document.links].map((link) => [link.innerText, link.href])")
        check(links == [["Open in the app", f"deucediary://join/{invite}"], ["Get the app", store]], f"{links}")
        others = [request for request in tab.requests if not request.startswith(url)]
        check(not others, f"{others}")

        tab = await follow(browser, f"{url}/join/{ended}", "This invitation has ended")
        check(await tab.value("document.links.length") == 0, "an ended invite has links")


if __name__ == "__main__":
    try:
        asyncio.run(main(*sys.argv[1:]))
    except Exception:
        traceback.print_exc(file=sys.stdout)
        sys.exit(1)
    print("invitation: works")
