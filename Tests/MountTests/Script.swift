import Glibc
import Posix
import Testing

/// Programs of the project and of Debian, run as a person or an administrator would, from bash.
enum Script {
  /// The project's root.
  static let root: String = FileName(#filePath).parent!.parent!.parent!.description

  /// The folder of the built programs.
  static var programs: String { FileName(Share.sharefs).parent!.description }

  static func has(_ program: String) -> Bool {
    ["/usr/bin", "/usr/sbin", "/usr/local/bin"].contains { unsafe access("\($0)/\(program)", X_OK) == 0 }
  }

  /// Runs a script, in which the first failing command ends it and is shown; it finds `$root`, `$programs`, and a folder of its own, `$T`.
  /// - Parameter apart: in a table of mounts and a network of its own, as root, with empty folders over those of the system that shares
  ///   of root and installers write to.
  @discardableResult
  static func run(
    _ text: String, apart: Bool = false, location: SourceLocation = #_sourceLocation
  ) throws -> String {
    let place = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    var template = Array("\(place)/script-XXXXXX".utf8CString)
    let folder = unsafe String(cString: mkdtemp(&template))
    unsafe chmod(folder, 0o755)
    let beginning = """
      set -Eeuo pipefail
      trap 'echo "line $LINENO failed: $BASH_COMMAND" >&2' ERR
      export T='\(folder)' root='\(root)' programs='\(programs)' HOME='\(folder)'
      cd "$T"
      # await COMMAND...: waits until it succeeds, 20 seconds at most. refuses COMMAND...: it must not succeed.
      await() { local end=$((SECONDS + 20)); until "$@" >/dev/null 2>&1; do [ $SECONDS -lt $end ] || { "$@"; return; }; sleep 0.05; done; }
      refuses() { if "$@"; then echo "this must fail: $*" >&2; return 1; fi; }
      # ended FOLDER: whether no daemon serves it any more.
      ended() { ! pgrep -f "sharefs mount.*$1"; }

      """
    let aside = """
      # Other tests' shares: a copy of their mounts in here would keep their daemons from ending.
      { grep ' - fuse.sharefs ' /proc/self/mountinfo || :; } | cut -d ' ' -f 5 | while read -r point; do umount -l "$point" || :; done
      for folder in /var/lib /var/cache /run; do mount -t tmpfs apart $folder; done
      ip link set lo up
      # For installers: nothing in /usr/sbin but what libfuse has there.
      empty_sbin() {
        cp -P /usr/sbin/mount.fuse* "$T/"; mount -t tmpfs apart /usr/sbin; cp -P "$T"/mount.fuse* /usr/sbin/
      }

      """
    let out = try Descriptor.memory("output")
    var words = ["bash", "-c", beginning + (apart ? aside : "") + text]
    if apart { words = ["unshare", "--mount", "--net", "--propagation", "slave"] + words }
    let child = try Child.spawn(
      FileName("/usr/bin/env"),
      (["env", "LC_ALL=C.UTF-8", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"] + words).map {
        FileName($0)
      }, descriptors: [1: out.raw, 2: 2])
    let ending = try child.wait()
    let output = String(decoding: try out.readAll(limit: 1 << 24), as: UTF8.self)
    #expect(ending == .exited(0), "\(output.suffix(4000))", sourceLocation: location)
    _ = try Child.spawn(FileName("/bin/rm"), ["rm", "-rf", "--one-file-system", folder].map { FileName($0) }).wait()
    return output
  }
}
