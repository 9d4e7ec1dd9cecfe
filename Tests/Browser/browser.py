"""Drives Chromium for the tests of the page."""
import atexit, base64, json, os, select, shutil, subprocess, sys, tempfile, time

class Browser:
    """Chromium without a window, spoken to over two pipes."""
    def __init__(self, width=1100, height=800, scheme="light"):
        self.profile = profile = tempfile.mkdtemp(prefix="browser-", dir=os.environ.get("TMPDIR", "/tmp"))
        theirs_in, self.out = os.pipe(); self.inn, theirs_out = os.pipe()
        def join():
            a, b = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(a, 3); os.dup2(b, 4)
        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--mute-audio",
             "--no-first-run", "--disable-extensions", "--disable-background-networking", "--hide-scrollbars", "--disable-breakpad",
             "--autoplay-policy=no-user-gesture-required", "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=join, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ, HOME=profile))
        os.close(theirs_in); os.close(theirs_out)
        atexit.register(self.end)
        self.rest, self.number, self.session, self.events = b"", 0, None, []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = [t for t in targets if t["type"] == "page"][0]["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"): self.call(domain + ".enable")
        self.size(width, height, scheme)
    def size(self, width, height, scheme="light"):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self.call("Emulation.setEmulatedMedia", features=[dict(name="prefers-color-scheme", value=scheme)])
    def message(self, end):
        while b"\0" not in self.rest:
            if not select.select([self.inn], [], [], max(0, end - time.time()))[0]: raise SystemExit("the browser does not answer")
            got = os.read(self.inn, 1 << 20)
            if not got: raise SystemExit("the browser has ended")
            self.rest += got
        line, self.rest = self.rest.split(b"\0", 1)
        return json.loads(line)
    def call(self, method, **parameters):
        self.number += 1
        message = dict(id=self.number, method=method, params=parameters)
        if self.session: message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        end = time.time() + 60
        while True:
            got = self.message(end)
            if got.get("id") == self.number:
                if "error" in got: raise SystemExit(f"{method}: {got['error']}")
                return got["result"]
            self.events.append(got)
    def ask(self, expression):
        got = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in got: raise SystemExit(f"{expression}: {got['exceptionDetails']}")
        return got["result"].get("value")
    def until(self, expression, seconds=30):
        end = time.time() + seconds
        while not self.ask(expression):
            if time.time() > end: raise SystemExit(f"never so: {expression}")
            time.sleep(0.05)
    def open(self, path):
        from urllib.parse import quote
        self.call("Page.navigate", url="file://" + quote(path))
        self.until("document.readyState === 'complete'")
    def key(self, key, text=None):
        codes = dict(Enter=13, Escape=27, ArrowLeft=37, ArrowUp=38, ArrowRight=39, ArrowDown=40, Tab=9, End=35, Home=36)
        code = dict(key=key, code=key, windowsVirtualKeyCode=codes.get(key, ord(key[0].upper())))
        self.call("Input.dispatchKeyEvent", type="keyDown", **({**code, "text": text} if text else code))
        self.call("Input.dispatchKeyEvent", type="keyUp", **code)
    def type(self, text):
        for letter in text: self.key(letter, letter)
    def shot(self, path):
        open(path, "wb").write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
    def requests(self):
        return [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
    def complaints(self):
        return [e["params"] for e in self.events if e.get("method") == "Runtime.exceptionThrown"
                or e.get("method") == "Log.entryAdded" and e["params"]["entry"]["level"] == "error"]
    def end(self):
        """Ends when its last process has: the pipe that all of them hold is closed then."""
        if self.process.poll() is not None: return
        os.write(self.out, json.dumps(dict(id=0, method="Browser.close")).encode() + b"\0")
        end = time.time() + 20
        while time.time() < end and select.select([self.inn], [], [], 20)[0] and os.read(self.inn, 1 << 20): pass
        self.process.kill(); self.process.wait()
        for _ in range(20):
            shutil.rmtree(self.profile, ignore_errors=True)
            if not os.path.exists(self.profile): break
            time.sleep(0.1)
