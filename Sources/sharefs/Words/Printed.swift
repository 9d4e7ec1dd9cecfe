/// What `sharefs --print NAME` writes for the installer: made from the verbs' table, so it never lags behind.
enum Printed: String, CaseIterable {
  case command = "sharefs.1"
  case helper = "mount.sharefs.8"
  case bash, zsh, fish

  var text: String {
    switch self {
    case .command: Manual.command
    case .helper: Manual.helper
    case .bash: CompletionBash.script
    case .zsh: CompletionZsh.script
    case .fish: CompletionFish.script
    }
  }
}
