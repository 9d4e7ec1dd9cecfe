"""A screen that nobody sees, for the tests of file managers."""
import atexit, ctypes, glob, os, signal, struct, subprocess, sys, tempfile, time

class Spoiled(Exception):
    """The desktop's own programs have failed, as they do in any folder: it says nothing about the share."""

def patiently(story):
    """Tells the story on a new screen; thrice at most where the desktop itself spoils it."""
    for left in (2, 1, 0):
        screen = Screen()
        try: return story(screen)
        except Spoiled as why:
            if not left: raise SystemExit(f"spoiled thrice: {why}")
            sys.stderr.write(f"once more: {why}\n")
        finally: screen.end()

class Screen:
    """Xvfb, whose framebuffer is a file in the form of xwd(1), and a session bus for the programs on it."""
    def __init__(self, width=830, height=520):
        self.folder = folder = tempfile.mkdtemp(prefix="screen-", dir=os.environ.get("TMPDIR", "/tmp"))
        # What a bus begins outlives it; then it is our child (PR_SET_CHILD_SUBREAPER).
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
        reading, writing = os.pipe()
        self.programs = [subprocess.Popen(
            ["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{width}x{height}x24", "-fbdir", folder, "-nolisten", "tcp", "-noreset"],
            pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)]
        atexit.register(self.end)
        os.close(writing)
        # To the end: who closes it after the number kills Xvfb over the newline.
        number = open(reading).read().strip()
        if not number: raise SystemExit("Xvfb gives no screen")
        # Its number is told before its picture is there.
        self.until("Xvfb draws", lambda: os.path.exists(folder + "/Xvfb_screen0"))
        self.environment = dict(os.environ, DISPLAY=":" + number, GDK_BACKEND="x11", GTK_THEME="Adwaita", NO_AT_BRIDGE="1")
        self.environment.pop("WAYLAND_DISPLAY", None)
        # Drawn without a graphics card, something that moves leaves no time for anything else: Nautilus lists no folder while its "Loading" turns.
        os.makedirs(folder + "/config/gtk-4.0")
        with open(folder + "/config/gtk-4.0/settings.ini", "w") as settings: settings.write("[Settings]\ngtk-enable-animations=false\n")
        self.environment.update(GSK_RENDERER="cairo", XDG_CONFIG_HOME=folder + "/config")
    def start(self, *words, **environment):
        """Runs a program on it, on a bus of its own."""
        self.programs.append(subprocess.Popen(["dbus-run-session", "--", *words], env={**self.environment, **environment}, stdout=subprocess.DEVNULL,
                                              stderr=open(self.folder + "/words", "ab"), start_new_session=True))
        return self.programs[-1]
    def pixels(self):
        """Width, and a word for each pixel, 0xRRGGBB in its lower bytes."""
        data = open(self.folder + "/Xvfb_screen0", "rb").read()
        header = struct.unpack(">25I", data[:100])
        size, width, height, line, colours = header[0], header[4], header[5], header[12], header[19]
        begin = size + colours * 12
        return width, memoryview(data)[begin:begin + line * height].cast("I")
    def count(self, red, green, blue, tolerance=40):
        """How many pixels have this colour, about."""
        seen, found = {}, 0
        for pixel in self.pixels()[1]:
            if pixel not in seen:
                seen[pixel] = all(abs((pixel >> shift & 255) - wanted) <= tolerance for shift, wanted in ((16, red), (8, green), (0, blue)))
            found += seen[pixel]
        return found
    def until(self, what, condition, seconds=180):
        end = time.time() + seconds
        while not condition():
            self.check()
            if time.time() > end:
                raise SystemExit(f"never so: {what}\n{self.words()}")
            time.sleep(0.1)
    def check(self):
        for program in self.programs[1:]:
            if program.poll() not in (None, 0): raise Spoiled(f"{program.args[-2:]} ended with {program.returncode}\n{self.words()}")
        # Tumbler names what it is writing by the second: two requests for one picture within the same one spoil each other, and leave this behind.
        for name in glob.glob(os.environ.get("XDG_CACHE_HOME", "") + "/thumbnails/*/*-*.png"):
            try: age = time.time() - os.stat(name).st_mtime
            except FileNotFoundError: continue
            if age > 5:
                os.unlink(name)
                raise Spoiled("Tumbler has lost a picture")
    def words(self):
        return "".join(open(name).read()[-2000:] for name in [self.folder + "/words"] if os.path.exists(name))
    def rests(self, seconds=1.0):
        """Waits until the picture has not changed for so long."""
        last, since, end = None, time.time(), time.time() + 60
        while time.time() - since < seconds and time.time() < end:
            now = bytes(self.pixels()[1])
            if now != last: last, since = now, time.time()
            time.sleep(0.1)
    def shot(self, path):
        width, pixels = self.pixels()
        rgb = bytearray()
        for pixel in pixels: rgb += bytes((pixel >> 16 & 255, pixel >> 8 & 255, pixel & 255))
        with open(path, "wb") as out: out.write(b"P6 %d %d 255\n" % (width, len(pixels) // width) + rgb)
    def end(self):
        for program in reversed(self.programs):
            if program.poll() is None:
                os.killpg(program.pid, signal.SIGTERM)
                try: program.wait(10)
                except subprocess.TimeoutExpired: os.killpg(program.pid, signal.SIGKILL); program.wait()
        # Such as an indexer, which would keep a share busy.
        while orphans := open(f"/proc/self/task/{os.getpid()}/children").read().split():
            for orphan in map(int, orphans): os.kill(orphan, signal.SIGKILL); os.waitpid(orphan, 0)
        subprocess.run(["rm", "-rf", self.folder])
