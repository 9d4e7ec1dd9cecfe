import Control
import Posix

/// How a daemon tells, once, that the mount answers or why there is none: to the command that started it, or to the terminal and systemd when it
/// runs in the foreground. Dropped without a word, the starting command sees its end come early and says so.
struct ReadyPipe: ~Copyable {
  /// -1 in the foreground.
  private let raw: CInt

  /// - Parameter raw: the pipe's writing end, owned from now on; nil in the foreground.
  init(_ raw: CInt?) { self.raw = raw ?? -1 }

  deinit { if raw >= 0 { _ = Descriptor(owning: raw) } }

  /// The mount answers.
  consuming func succeed(_ sentence: String) {
    tell(Message(code: ExitCode.done.rawValue, sentence: "", hint: nil))
    Systemd.notify("READY=1\nSTATUS=\(sentence)")
  }

  /// There is no mount.
  consuming func fail(_ failure: Failure) {
    if raw < 0 { failure.tell() }
    Systemd.notify("STATUS=\(failure.sentence)")
    tell(Message(code: failure.code.rawValue, sentence: failure.sentence, hint: failure.hint))
  }

  private func tell(_ message: Message) {
    if raw < 0 { return }
    // Fails only when the command that waited was killed: then nobody wants to know.
    try? System.write(raw, (try? JSONLine.encode(message)) ?? [])
  }

  struct Message: Codable {
    let code: Int32
    let sentence: String
    let hint: String?
  }
}

/// What systemd wants to hear from a service of Type=notify.
enum Systemd {
  static func notify(_ text: String) {
    guard let address = System.environment("NOTIFY_SOCKET")?.text else { return }
    // It is its socket: when systemd does not hear us, it will say so itself.
    try? UnixSocket.tell(address, text)
  }

  /// Whether the standard error output goes to the journal.
  static var readsStandardError: Bool {
    guard let stream = System.environment("JOURNAL_STREAM")?.text, let status = try? FileStatus.of(2) else {
      return false
    }
    return stream == "\(status.device):\(status.inode)"
  }
}
