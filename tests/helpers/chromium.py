"""A browser without a window, driven by the WebDriver protocol: https://www.w3.org/TR/webdriver2/."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from importlib.resources import files

KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Tab": "\ue004", "Home": "\ue011"}
KEYS |= {"Left": "\ue012", "Up": "\ue013", "Right": "\ue014", "Down": "\ue015"}


def _binary():
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def missing():
    """Why there is no browser to test in, None where there is one."""
    if _binary() and shutil.which("chromedriver"):
        return None
    return "chromium and chromedriver are not installed (Debian: apt-get install chromium chromium-driver)"


class Browser:
    """One window; a context manager."""

    def __enter__(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
        self._address = f"http://127.0.0.1:{port}"
        self._driver = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL)
        try:
            self._wait_for_driver()
            arguments = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--force-device-scale-factor=1"]
            if hasattr(os, "geteuid") and os.geteuid() == 0:
                arguments.append("--no-sandbox")
            options = {
                "goog:chromeOptions": {"args": arguments, "binary": _binary()},
                "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            }
            session = self._call("POST", "/session", {"capabilities": {"alwaysMatch": options}})
        except BaseException:
            self._driver.kill()
            raise
        self._session = f"/session/{session['sessionId']}"
        return self

    def __exit__(self, *_):
        self._call("DELETE", self._session)
        self._driver.terminate()
        self._driver.wait()

    def _wait_for_driver(self):
        end = time.monotonic() + 30
        while True:
            try:
                return self._call("GET", "/status")
            except urllib.error.URLError:
                if time.monotonic() > end or self._driver.poll() is not None:
                    raise
                time.sleep(0.05)

    def _call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        header = {"Content-Type": "application/json"}
        request = urllib.request.Request(self._address + path, data, header, method=method)
        try:
            with self._open(request, timeout=60) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def visit(self, path, width=1280, height=1000, answers=""):
        """Open a file, with ``answers`` behind the # of its address; what was logged before is forgotten."""
        self._call("POST", f"{self._session}/window/rect", {"width": width, "height": height})
        for kind in ("browser", "performance"):
            self.log(kind)
        self._call("POST", f"{self._session}/url", {"url": path.as_uri() + (f"#{answers}" if answers else "")})

    def look(self, width=1400, height=900, scheme="light", media=""):
        """Be a screen of this size, a phone's if it is narrow, for a reader who prefers light or dark."""
        features = [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        self.emulate("Emulation.setEmulatedMedia", media=media, features=features)
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.emulate("Emulation.setDeviceMetricsOverride", **size)

    def look_as_before(self):
        """Undo ``look``."""
        self.emulate("Emulation.clearDeviceMetricsOverride")
        self.emulate("Emulation.setEmulatedMedia", media="", features=[])

    def serious_barriers(self):
        """What axe-core says of serious barriers to people with disabilities on the page."""
        import axe_core_python

        self.run(files(axe_core_python).joinpath("axe.min.js").read_text(encoding="utf-8"))
        found = self.run(
            "const words = v => [v.impact, v.id, v.nodes[0].html, v.nodes[0].failureSummary];"
            "return axe.run().then(result => result.violations.map(words))"
        )
        return [entry for entry in found if entry[0] in ("serious", "critical")]

    def run(self, script, *arguments):
        """What a script returns."""
        return self._call("POST", f"{self._session}/execute/sync", {"script": script, "args": list(arguments)})

    def emulate(self, command, **parameters):
        """A command of the DevTools protocol."""
        body = {"cmd": command, "params": parameters}
        return self._call("POST", f"{self._session}/goog/cdp/execute", body)

    def log(self, kind):
        """What has been logged since the last time."""
        return self._call("POST", f"{self._session}/se/log", {"type": kind})

    def fetched(self):
        """Addresses of all that was requested."""
        messages = [json.loads(entry["message"])["message"] for entry in self.log("performance")]
        return [
            message["params"]["request"]["url"]
            for message in messages
            if message["method"] == "Network.requestWillBeSent"
        ]

    def press(self, *names):
        """Press and release keys, one after the other."""
        keys = [{"type": kind, "value": KEYS[name]} for name in names for kind in ("keyDown", "keyUp")]
        self._act({"type": "key", "id": "keyboard", "actions": keys})

    def point(self, x, y, click=False):
        """Move the pointer to a place in the window."""
        actions = [{"type": "pointerMove", "x": round(x), "y": round(y)}]
        if click:
            actions += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self._act({"type": "pointer", "id": "mouse", "actions": actions})

    def _act(self, source):
        self._call("POST", f"{self._session}/actions", {"actions": [source]})
