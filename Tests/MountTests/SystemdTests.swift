import Glibc
import Testing

/// What systemd, man and the shells make of what is installed.
@Suite("At home in the system", .serialized, .enabled(if: !Mode.possible.isEmpty, "mounting needs /dev/fuse"))
struct SystemdTests {
  @Test(.enabled(if: Script.has("systemd-analyze"))) func unitsAreGood() throws {
    try Script.run(
      """
      mkdir bin units; ln -s "$programs/sharefs" bin/sharefs
      sed "s|@bindir@|$T/bin|g" "$root/mount-scripts/system/sharefs@.service.in" >units/sharefs@.service
      cp "$root"/mount-scripts/system/srv-clips.* units/
      export XDG_RUNTIME_DIR=$T
      systemd-analyze --user verify --man=no "$T/units/sharefs@home-me-share.service" 2>words || { cat words; exit 1; }
      systemd-analyze verify --man=no --recursive-errors=no "$T/units/srv-clips.mount" "$T/units/srv-clips.automount" 2>words2 \\
        || { cat words2; exit 1; }
      refuses grep "$T" words words2
      """)
  }

  /// Type=notify hears when the mount answers and when it ends, and the journal gets priorities.
  @Test(arguments: Mode.possible) func tellsSystemd(mode: Mode) throws {
    let share = try Share(mode, mounted: false)
    try share.run("mkdir", share.folder)
    try share.python(
      """
      os.chdir("/")
      heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); heard.bind("\(share.base)/notify"); heard.settimeout(20)
      log = open("\(share.base)/journal", "w+b"); status = os.fstat(log.fileno())
      p = subprocess.Popen(["\(Share.sharefs)", "mount", "--foreground", "--state", "\(share.state)", "\(share.folder)"],
                           stderr=log, env=dict(os.environ, NOTIFY_SOCKET="\(share.base)/notify",
                                                JOURNAL_STREAM=f"{status.st_dev}:{status.st_ino}"))
      ready = heard.recv(4096).decode(); assert "READY=1\\n" in ready and "STATUS=" in ready, ready
      assert os.path.ismount("\(share.folder)")
      p.terminate(); assert "STOPPING=1" in heard.recv(4096).decode(); assert p.wait(20) == 0
      lines = open("\(share.base)/journal").read().splitlines()
      assert lines and all(line.startswith("<6>") for line in lines), lines
      # A mount that cannot be says so there too.
      p = subprocess.Popen(["\(Share.sharefs)", "mount", "--foreground", "/nowhere", "\(share.folder)"],
                           stderr=log, env=dict(os.environ, NOTIFY_SOCKET="\(share.base)/notify"))
      assert "STATUS=There is no such source" in heard.recv(4096).decode(); assert p.wait(20) == 32
      """)
    try share.end()
  }

  @Test(.enabled(if: Script.has("man"))) func manualPagesAreGood() throws {
    try Script.run(
      """
      for page in sharefs.1 mount.sharefs.8; do
        "$programs/sharefs" --print $page >$page
        MANWIDTH=80 man --warnings -l $page >text 2>words; [ ! -s words ]
        [ "$(wc -l <text)" -gt 40 ]
      done
      man -l sharefs.1 | grep -q -- '--foreground'; man -l mount.sharefs.8 | grep -q thumb_size=WxH
      """)
  }

  /// Typed in a real bash on a real terminal, with a mount whose name has a space.
  @Test func bashCompletes() throws {
    let share = try Share(Mode.possible[0], mounted: false)
    try share.run("mkdir", "-p", share.base + "/my share", share.base + "/home/clips")
    #expect(try share.sharefs(["mount", "--state", share.state, share.base + "/my share"]) == 0)
    let result = try share.call("python3", ["-c", ShellSession.bash, Share.sharefs, share.base])
    #expect(try share.sharefs(["umount", share.base + "/my share"]) == 0)
    try share.end()
    #expect(result.code == 0, "\(result.output)")
  }

  @Test(.enabled(if: Script.has("fish"), "fish is not installed")) func fishCompletes() throws {
    try Script.run(
      """
      "$programs/sharefs" --print fish >sharefs.fish
      ask() { fish --no-config -c "source sharefs.fish; complete -C '$1'"; }
      ask 'sharefs um' | grep -q '^umount'
      ask 'sharefs umount --l' | grep -q '^--lazy'
      ask 'sharefs mount -o thumbs=hid' | grep -q '^thumbs=hidden'
      ask 'sharefs mount -o ro,thumbs=o' | grep -q 'ro,thumbs=off'
      ask 'sharefs list --type vid' | grep -q '^video'
      """)
  }

  @Test(.enabled(if: Script.has("zsh"), "zsh is not installed")) func zshCompletes() throws {
    let share = try Share(Mode.possible[0], mounted: false)
    let result = try share.call("python3", ["-c", ShellSession.zsh, Share.sharefs, share.base])
    try share.end()
    #expect(result.code == 0, "\(result.output)")
  }
}

/// Python programs that type into a shell on a terminal of its own.
private enum ShellSession {
  static let common = """
    import os, pty, re, select, subprocess, sys, time
    sharefs, base = sys.argv[1], sys.argv[2]
    def session(words, environment):
        process, terminal = pty.fork()
        if process == 0:
            os.environ.update(environment); os.chdir(base); os.execvp(words[0], words)
        return process, terminal
    seen = b""
    def until(terminal, wanted, seconds=20):
        global seen
        end = time.time() + seconds
        while not (found := re.search(wanted, seen)):
            if time.time() > end: sys.exit(f"{wanted} did not come: {seen}")
            if select.select([terminal], [], [], 0.2)[0]: seen += os.read(terminal, 65536)
        seen = seen[found.end():]

    def completes(typed, wanted):
        os.write(terminal, typed.encode() + b"\\t"); until(terminal, wanted.encode())
        os.write(terminal, b"\\x15\\n"); until(terminal, b"ready>")

    """

  static let bash =
    common + """
      script = base + "/completion"; open(script, "w").write(subprocess.check_output([sharefs, "--print", "bash"], text=True))
      process, terminal = session(["bash", "--norc", "--noprofile", "-i"],
                                  {"PS1": "ready>", "TERM": "dumb", "PATH": os.path.dirname(sharefs) + ":" + os.environ["PATH"]})
      until(terminal, b"ready>")
      os.write(terminal, f"bind 'set enable-bracketed-paste off'; bind 'set bell-style none'; source {script}; echo so''urced\\n".encode())
      until(terminal, b"sourced"); until(terminal, b"ready>")
      completes("sharefs umo", "sharefs umount ")
      completes("sharefs umount --la", "umount --lazy ")
      completes(f"sharefs umount {base}/my", r"my\\\\ share")
      completes("sharefs mount -o thumbs=hid", "thumbs=hidden")
      completes("sharefs mount -o ro,thumbs=o", "ro,thumbs=off")
      completes("sharefs mount --options=nopass", "--options=nopassthrough")
      completes("sharefs mount home/cl", "home/clips/")
      completes("sharefs list --type vid", "--type video")
      completes("sharefs list -t video,im", "video,image")
      os.write(terminal, b"exit\\n"); os.waitpid(process, 0)
      """

  static let zsh =
    common + """
      os.makedirs(base + "/functions"); open(base + "/functions/_sharefs", "w").write(subprocess.check_output([sharefs, "--print", "zsh"], text=True))
      process, terminal = session(["zsh", "-f", "-i"], {"PS1": "ready>", "TERM": "dumb", "HOME": base})
      until(terminal, b"ready>")
      os.write(terminal, f"unsetopt zle_bracketed_paste; fpath=({base}/functions $fpath); autoload -U compinit && compinit -u -d {base}/dump; echo so''urced\\n".encode())
      until(terminal, b"sourced"); until(terminal, b"ready>")
      completes("sharefs umo", "umount ")
      completes("sharefs umount --la", "--lazy ")
      completes("sharefs mount -o thumbs=hid", "thumbs=hidden")
      completes("sharefs list --type vid", "video")
      os.write(terminal, b"exit\\n"); os.waitpid(process, 0)
      """
}
