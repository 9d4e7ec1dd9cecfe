/// The completions for zsh and fish.
enum CompletionZsh {
  static var script: String {
    var text = """
      #compdef sharefs
      # zsh completion for sharefs. Made by `sharefs --print zsh`; do not edit.

      _sharefs_mounts() {
        local line
        local -a mounts
        while read -r line; do
          [[ $line == *' - fuse.sharefs '* ]] && mounts+=("$(printf '%b' "${${(s: :)line}[5]//\\\\/\\\\0}")")
        done < /proc/self/mountinfo
        compadd -f -a mounts
      }

      _sharefs() {
        local curcontext=$curcontext state line
        local -a verbs
        verbs=(

      """
    for verb in Verb.allCases { text += "    \(quoted("\(verb.rawValue):\(verb.summary)"))\n" }
    text += """
        )
        _arguments -C '(- *)--help[this text]' '(- *)--version[the version]' '1: :->verb' '*:: :->rest' && return
        case $state in
          verb) _describe verb verbs ;;
          rest)
            case $words[1] in

      """
    for verb in Verb.allCases {
      text += "        \(verb.rawValue))\n          _arguments -S \\\n"
      for option in verb.shownOptions { text += "            \(specification(option)) \\\n" }
      let operands = verb.operandCompletions.map { action($0) }.sorted()
      let all = operands.count > 1 ? "_alternative \(alternatives(operands))" : operands.first ?? " "
      text += "            \(quoted("*: :\(operands.count > 1 ? "{\(all)}" : all)"))\n          ;;\n"
    }
    return text + "      esac\n      ;;\n  esac\n}\n\n_sharefs \"$@\"\n"
  }

  private static func alternatives(_ actions: [String]) -> String {
    actions.enumerated().map { "\"a\($0.offset): :\($0.element)\"" }.joined(separator: " ")
  }

  private static func specification(_ option: Option) -> String {
    let escaped = option.summary.map { "[]:".contains($0) ? "\\\($0)" : String($0) }.joined()
    let value = option.value.map { ":\($0):\(action(option.completion))" } ?? ""
    let equals = option.value == nil ? "" : "="
    guard let short = option.short else { return quoted("--\(option.long)\(equals)[\(escaped)]\(value)") }
    let plus = option.value == nil ? "" : "+"
    return quoted("(-\(short) --\(option.long))") + "{-\(short)\(plus),--\(option.long)\(equals)}"
      + quoted("[\(escaped)]\(value)")
  }

  private static func action(_ completion: Completion) -> String {
    switch completion {
    case .mounts: "_sharefs_mounts"
    case .folders: "_files -/"
    case .files: "_files"
    case .list(let words): "_sequence compadd - \(words.joined(separator: " "))"
    case .words(let words): "(\(words.joined(separator: " ")))"
    case .nothing: " "
    }
  }
}

enum CompletionFish {
  static var script: String {
    var text = """
      # fish completion for sharefs. Made by `sharefs --print fish`; do not edit.

      function __sharefs_mounts
          string match -rg '^(?:\\S+ ){4}(\\S+) .* - fuse\\.sharefs ' < /proc/self/mountinfo | string replace -a '\\\\040' ' '
      end

      # A list separated by commas: what is there already, then each word.
      function __sharefs_list
          set -l given (string match -r '.*,' -- (commandline -ct | string replace -r '^(--[a-z-]+=|-[a-z])' ''))
          printf "$given%s\\n" $argv
      end

      complete -c sharefs -f
      complete -c sharefs -n __fish_use_subcommand -l help -d 'this text'
      complete -c sharefs -n __fish_use_subcommand -l version -d 'the version'

      """
    for verb in Verb.allCases {
      text += "complete -c sharefs -n __fish_use_subcommand -a \(verb.rawValue) -d \(quoted(verb.summary))\n"
    }
    for verb in Verb.allCases {
      let here = "complete -c sharefs -n '__fish_seen_subcommand_from \(verb.rawValue)'"
      for option in verb.shownOptions {
        let short = option.short.map { " -s \($0)" } ?? ""
        let value = option.value == nil ? "" : " -r" + action(option.completion)
        text += "\(here)\(short) -l \(option.long)\(value) -d \(quoted(option.summary))\n"
      }
      for operand in verb.operandCompletions.map({ action($0) }).sorted() where !operand.isEmpty {
        text += "\(here)\(operand)\n"
      }
    }
    return text
  }

  private static func action(_ completion: Completion) -> String {
    switch completion {
    case .mounts: " -a '(__sharefs_mounts)'"
    case .folders: " -a '(__fish_complete_directories)'"
    case .files: " -F"
    case .list(let words): " -a '(__sharefs_list \(words.joined(separator: " ")))'"
    case .words(let words): " -a '\(words.joined(separator: " "))'"
    case .nothing: ""
    }
  }
}

/// In single quotes, as all three shells and fish take them but for the quote itself.
private func quoted(_ text: String) -> String {
  "'" + text.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
}
