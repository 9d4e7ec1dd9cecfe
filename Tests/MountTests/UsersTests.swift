import Glibc
import Posix
import Testing

/// Whom a share serves, and with whose rights.
@Suite("Users", .serialized, .enabled(if: geteuid() == 0 && !Mode.possible.isEmpty, "needs root and /dev/fuse"))
struct UsersTests {
  /// Three users, of whom two share a group: each may do in root's mount just what he may do in the folder.
  @Test(arguments: Mode.possible.filter { $0 != .user }) func threeUsers(mode: Mode) throws {
    try onShare(mode) { share in
      try share.python(
        """
        os.chmod(".", 0o1777); os.umask(0)
        users = {"anna": (4101, 4101, [4200]), "ben": (4102, 4102, [4200, 4300]), "carl": (4103, 4103, [])}
        def be(name, work):
            uid, gid, groups = users[name]; r, w = os.pipe(); pid = os.fork()
            if pid == 0:
                os.setgroups(groups); os.setgid(gid); os.setuid(uid)
                try: answer = str(work())
                except OSError as e: answer = errno.errorcode[e.errno]
                os.write(w, answer.encode()); os._exit(0)
            os.waitpid(pid, 0); os.close(w); return os.read(r, 1000).decode()
        def write(path, text, mode=0o644):
            f = os.open(path, os.O_CREAT | os.O_WRONLY, mode); os.write(f, text); os.close(f); return "ok"
        def shared():
            os.mkdir("common", 0o2770); os.chown("common", -1, 4200); os.chmod("common", 0o2770); return "ok"
        assert be("anna", lambda: write("private.txt", b"anna", 0o600)) == "ok"
        assert be("anna", lambda: write("group.txt", b"anna", 0o660)) == "ok" and be("anna", lambda: os.chown("group.txt", -1, 4200)) == "None"
        assert be("anna", shared) == "ok"
        s = os.stat("private.txt"); assert (s.st_uid, s.st_gid) == (4101, 4101)
        for name, expected in (("anna", "anna"), ("ben", "EACCES"), ("carl", "EACCES")): assert be(name, lambda: open("private.txt").read()) == expected, name
        for name, expected in (("anna", "ok"), ("ben", "ok"), ("carl", "EACCES")): assert be(name, lambda: write("group.txt", b"more")) == expected, name
        # A file of the group in a folder whose group is inherited; nobody else sees even its name.
        assert be("ben", lambda: write("common/ben.txt", b"ben", 0o640)) == "ok"; s = os.stat("common/ben.txt"); assert (s.st_uid, s.st_gid) == (4102, 4200)
        assert be("anna", lambda: open("common/ben.txt").read()) == "ben" and be("anna", lambda: os.unlink("common/ben.txt")) == "None"
        assert be("carl", lambda: os.listdir("common")) == "EACCES" and be("carl", lambda: os.stat("common/x")) == "EACCES"
        # What the views show is bound to the same rights.
        assert be("carl", lambda: os.listdir(".thumbs/common")) in ("EACCES", "ENOENT"), be("carl", lambda: os.listdir(".thumbs/common"))
        assert be("carl", lambda: open(".thumbs/private.txt.png", "rb").read(4)) == "EACCES" and be("anna", lambda: open(".thumbs/private.txt.png", "rb").read(4)[1:]) == "b'PNG'"
        assert be("carl", lambda: open(".ready/private.txt").read()) == "EACCES" and be("anna", lambda: open(".ready/private.txt").read()) == "anna"
        # The sticky root: one's own alone.
        assert be("carl", lambda: os.unlink("private.txt")) == "EPERM" and be("ben", lambda: os.rename("group.txt", "x.txt")) == "EPERM"
        assert be("carl", lambda: os.chmod("group.txt", 0o777)) == "EPERM" and be("carl", lambda: os.chown("private.txt", 4103, -1)) == "EPERM"
        # A supplementary group that the owner is in may be given away to, another not.
        assert be("ben", lambda: write("ben.txt", b"x")) == "ok" and be("ben", lambda: os.chown("ben.txt", -1, 4300)) == "None" and be("anna", lambda: os.chown("private.txt", -1, 4300)) == "EPERM"
        assert be("anna", lambda: os.unlink("private.txt")) == "None"
        """)
    }
  }

  /// A user's mount is that user's: nobody else gets in, root neither.
  @Test func aUsersMount() throws {
    try onShare(.user) { share in
      try share.run("touch", "\(share.folder)/own.txt")
      #expect(try share.exists("own.txt"))
      for user in ["0", "4103"] {
        let child = try Child.spawn(
          FileName("/usr/bin/setpriv"),
          ["setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups", "ls", share.folder].map { FileName($0) },
          descriptors: [2: 2])
        #expect(try child.wait() != .exited(0), "\(user) got in")
      }
    }
  }
}
