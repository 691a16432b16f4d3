"""A headless Chromium, driven over the DevTools protocol as a user's mouse and keyboard would.

Waits are for conditions, up to a generous limit. Every tab keeps the errors of its page and the requests that it made.
"""

import asyncio
import base64
import contextlib
import itertools
import json
import os
import re
import signal
import tempfile

import websockets

PROGRAMS = ["chromium-headless-shell", "chromium", "chrome", "google-chrome"]
LIMIT = 300


class Failure(Exception):
    pass


class Browser:
    """A browser process with a profile of its own, and the connection to it."""

    def __init__(self, socket):
        self.socket = socket
        self.numbers = itertools.count(1)
        self.answers = {}
        self.tabs = {}

    @staticmethod
    @contextlib.asynccontextmanager
    async def started(program):
        with tempfile.TemporaryDirectory() as profile:
            process = await asyncio.create_subprocess_exec(
                program, "--headless", "--remote-debugging-port=0", f"--user-data-dir={profile}", "--no-first-run",
                "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
                # No name is resolved: a page that asks another host for anything fails.
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
                # The sandbox cannot be set up by root, nor in many containers. The pages are the tests' own.
                "--no-sandbox", "about:blank",
                stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE, start_new_session=True,
                env={**os.environ, "HOME": profile})
            said = b""
            try:
                async with asyncio.timeout(LIMIT):
                    while not (found := re.search(rb"DevTools listening on (ws://\S+)", said)):
                        line = await process.stderr.readline()
                        if not line:
                            raise Failure(f"{program} ended: {said.decode(errors='replace')}")
                        said += line
                drain = asyncio.create_task(process.stderr.read())
                async with websockets.connect(found[1].decode(), max_size=None, ping_interval=None) as socket:
                    browser = Browser(socket)
                    reader = asyncio.create_task(browser._read())
                    try:
                        yield browser
                    finally:
                        reader.cancel()
                        drain.cancel()
            finally:
                # The browser's own processes are in its group. They keep the pipe open.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()

    async def _read(self):
        async for text in self.socket:
            message = json.loads(text)
            if "id" in message:
                self.answers.pop(message["id"]).set_result(message)
            elif tab := self.tabs.get(message.get("sessionId")):
                tab.note(message["method"], message["params"])

    async def call(self, method, session=None, **parameters):
        number = next(self.numbers)
        self.answers[number] = asyncio.get_running_loop().create_future()
        message = {"id": number, "method": method, "params": parameters}
        await self.socket.send(json.dumps(message | ({"sessionId": session} if session else {})))
        async with asyncio.timeout(LIMIT):
            answer = await self.answers[number]
        if "error" in answer:
            raise Failure(f"{method}: {answer['error']['message']}")
        return answer["result"]

    async def tab(self, url, width=1280, height=900, dark=False,
                  ready="document.documentElement.dataset.ready === 'true'"):
        """Opens a page and waits until it is ready. Tabs share cookies, and nothing else."""
        target = (await self.call("Target.createTarget", url="about:blank"))["targetId"]
        session = (await self.call("Target.attachToTarget", targetId=target, flatten=True))["sessionId"]
        tab = Tab(self, session)
        self.tabs[session] = tab
        for domain in ["Page", "Runtime", "Network", "Log", "DOM"]:
            await tab.call(f"{domain}.enable")
        await tab.look(width, height, dark)
        await tab.call("Page.navigate", url=url)
        await tab.wait(ready)
        return tab


class Tab:
    def __init__(self, browser, session):
        self.browser = browser
        self.session = session
        self.errors = []
        # What the console says of answers with a status of 400 or more.
        self.refusals = []
        self.requests = []
        self.dialogs = []

    async def call(self, method, **parameters):
        return await self.browser.call(method, self.session, **parameters)

    def note(self, method, parameters):
        if method == "Runtime.exceptionThrown":
            self.errors.append(parameters["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            entry = parameters["entry"]
            # A refusal that a test asks for is no mistake of the page.
            (self.refusals if entry["source"] == "network" else self.errors).append(f"{entry['text']} {entry.get('url')}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Network.webSocketCreated":
            self.requests.append(parameters["url"])
        elif method == "Page.javascriptDialogOpening":
            self.dialogs.append(parameters["message"])
            asyncio.create_task(self.call("Page.handleJavaScriptDialog", accept=True))

    async def look(self, width, height=900, dark=False):
        await self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                        mobile=width < 600)
        await self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    async def value(self, expression):
        answer = await self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise Failure(f"{expression}: {answer['exceptionDetails'].get('exception', {}).get('description')}")
        return answer["result"].get("value")

    async def wait(self, expression):
        """Waits until an expression is true, and returns its value."""
        try:
            async with asyncio.timeout(LIMIT):
                while True:
                    with contextlib.suppress(Failure):
                        # An element arrives here as an empty object, so the page decides whether the value is true.
                        is_true, value = await self.value(
                            f"(async () => {{ const value = await ({expression}); return [Boolean(value), value]; }})()")
                        if is_true:
                            return value
                    await asyncio.sleep(0.05)
        except TimeoutError:
            shown = await self.value("document.body.innerText")
            raise Failure(f"never: {expression}\nerrors: {self.errors}\nthe page:\n{shown[:3000]}") from None

    async def click(self, selector):
        await self.click_on(f"document.querySelector({json.dumps(selector)})")

    async def click_on(self, element):
        """Clicks an element, which an expression finds. A page may move or replace it meanwhile: then it is clicked again."""
        await self.call("Page.bringToFront")
        async with asyncio.timeout(LIMIT):
            while not await self.try_click(element):
                await asyncio.sleep(0.05)

    async def try_click(self, element):
        """Returns whether the element was clicked, or the page is gone by the click."""
        place = await self.wait(f"""(() => {{
            const element = {element};
            if (!element || element.disabled) return null;
            window.wasClicked = false;
            element.addEventListener("click", () => {{ window.wasClicked = true; }}, {{ capture: true, once: true }});
            element.scrollIntoView({{ block: "center", behavior: "instant" }});
            const box = element.getBoundingClientRect();
            return box.width ? [box.x + Math.min(box.width / 2, 40), box.y + box.height / 2] : null;
        }})()""")
        for kind in ["mousePressed", "mouseReleased"]:
            await self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)
        try:
            return await self.value("window.wasClicked !== false")
        except Failure:
            return True

    async def key(self, name, shift=False):
        codes = {"Tab": (9, None), "Enter": (13, "\r"), " ": (32, " "), "ArrowDown": (40, None)}
        code, text = codes.get(name) or (ord(name.upper()), name)
        common = {"key": name, "code": "Space" if name == " " else name, "windowsVirtualKeyCode": code,
                  "modifiers": 8 if shift else 0}
        await self.call("Input.dispatchKeyEvent", type="keyDown", **common, **({"text": text} if text else {}))
        await self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    async def write(self, selector, text):
        """Replaces the content of a field by what a user types."""
        await self.call("Page.bringToFront")
        await self.wait(f"(() => {{ const field = document.querySelector({json.dumps(selector)}); "
                        "field.focus(); field.select(); return true; })()")
        await self.call("Input.insertText", text=text)

    async def choose_file(self, selector, path):
        document = (await self.call("DOM.getDocument"))["root"]["nodeId"]
        node = (await self.call("DOM.querySelector", nodeId=document, selector=selector))["nodeId"]
        await self.call("DOM.setFileInputFiles", nodeId=node, files=[path])

    async def picture(self, path, whole=False):
        answer = await self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))
