"""Firefox controlled through WebDriver BiDi, which it supports without a driver."""

import asyncio
import json
import re
import subprocess
import time

from tornado.websocket import websocket_connect

ESCAPE = "\ue00c"  # as WebDriver names the key
TIMEOUT = 60  # seconds for one answer


class Firefox:
    """A headless window; events are kept in order."""

    def __init__(self, path, profile):
        self.loop, self.events, self.number = asyncio.new_event_loop(), [], 0
        command = [
            path,
            "--headless",
            "--no-remote",
            "--profile",
            str(profile),
            "--remote-debugging-port",
            "0",
        ]
        self.log = profile / "log.txt"
        with self.log.open("w") as file:  # a pipe that nobody reads would fill up
            self.process = subprocess.Popen(command, stderr=file, stdout=subprocess.DEVNULL)
        try:
            address = self._find_address()
            self.socket = self._wait(
                lambda: websocket_connect(f"{address}/session", max_message_size=1 << 28)
            )
            self.send("session.new", capabilities={})
            self.send("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])
            self.window = self.send("browsingContext.getTree")["contexts"][0]["context"]
        except BaseException:
            self.stop()
            raise

    def _find_address(self):
        for _ in range(TIMEOUT * 20):
            if found := re.search(
                r"WebDriver BiDi listening on (ws://\S+)\n", self.log.read_text(errors="replace")
            ):
                return found[1]
            assert self.process.poll() is None, self.log.read_text(errors="replace")
            time.sleep(0.05)
        raise TimeoutError(self.log.read_text(errors="replace"))

    def _wait(self, begin):
        """Run a coroutine in the event loop and return its result."""

        async def limited():
            return await asyncio.wait_for(begin(), TIMEOUT)

        return self.loop.run_until_complete(limited())

    def send(self, method, **parameters):
        """Send a command and return its result."""
        self.number += 1
        message = json.dumps({"id": self.number, "method": method, "params": parameters})
        self._wait(lambda: self.socket.write_message(message))
        while True:
            answer = json.loads(self._wait(self.socket.read_message))
            if answer.get("id") == self.number:
                assert answer["type"] == "success", answer
                return answer["result"]
            self.events.append(answer)

    def open(self, address, width, height):
        self.send(
            "browsingContext.setViewport",
            context=self.window,
            viewport={"width": width, "height": height},
        )
        self.send("browsingContext.navigate", context=self.window, url=address, wait="complete")

    def evaluate(self, expression):
        """Return the value of an expression in the page."""
        target = {"context": self.window}
        found = self.send(
            "script.evaluate",
            expression=f"JSON.stringify({expression})",
            target=target,
            awaitPromise=True,
        )
        assert found["type"] == "success", found
        return json.loads(found["result"].get("value", "null"))

    def text(self, name):
        return self.evaluate(f"document.getElementById({json.dumps(name)}).textContent")

    def press(self, *keys):
        acts = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.send(
            "input.performActions",
            context=self.window,
            actions=[{"type": "key", "id": "keys", "actions": acts}],
        )

    def click(self, name):
        """Scroll an element into view and click its middle."""
        place = (
            "(() => {"
            " const one = document.getElementById(%s);"
            " one.scrollIntoView({ block: 'center', behavior: 'instant' });"
            " const { x, y, width, height } = one.getBoundingClientRect();"
            " return [x + width / 2, y + height / 2];"
            " })()"
        )
        x, y = map(int, self.evaluate(place % json.dumps(name)))
        acts = [
            {"type": "pointerMove", "x": x, "y": y},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        self.send(
            "input.performActions",
            context=self.window,
            actions=[{"type": "pointer", "id": "mouse", "actions": acts}],
        )

    def close(self):
        self._wait(self._leave)
        self.stop()

    async def _leave(self):
        self.socket.close()
        await asyncio.sleep(0)  # let the socket close

    def stop(self):
        self.process.terminate()
        self.process.wait(TIMEOUT)
        self.loop.close()
