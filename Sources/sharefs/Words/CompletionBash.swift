/// The completion for bash: the tables of the verbs, and one function that looks into them.
enum CompletionBash {
  static var script: String {
    var text = """
      # bash completion for sharefs. Made by `sharefs --print bash`; do not edit.

      _sharefs_options() {
        case $1 in

      """
    for verb in Verb.allCases {
      let words = verb.shownOptions.flatMap { option in
        ["--\(option.long)"] + (option.short.map { ["-\($0)"] } ?? [])
      }
      text += "    \(verb.rawValue)) echo '\(words.joined(separator: " "))' ;;\n"
    }
    text += "  esac\n}\n\n# What follows an option, or is the operand: a word for _sharefs_complete.\n"
    text += "_sharefs_wanted() {\n  case $1:$2 in\n"
    for verb in Verb.allCases {
      for option in verb.shownOptions where option.value != nil {
        let names = (["--\(option.long)"] + (option.short.map { ["-\($0)"] } ?? []))
        let patterns = names.map { "\(verb.rawValue):\($0)" }.joined(separator: " | ")
        text += "    \(patterns)) echo '\(word(option.completion))' ;;\n"
      }
      let operands = verb.operandCompletions.map { word($0) }.sorted().joined(separator: " ")
      text += "    \(verb.rawValue):) echo '\(operands)' ;;\n"
    }
    text += "  esac\n}\n\n"
    let lists = Set(Verb.allCases.flatMap { verb in verb.shownOptions.map(\.completion) })
    text += "_sharefs_list() {\n  case $1 in\n"
    for list in lists.compactMap({ if case .list(let words) = $0 { words } else { nil } }).sorted(by: { $0[0] < $1[0] })
    {
      text += "    \(list[0])) echo '\(list.joined(separator: " "))' ;;\n"
    }
    return text + "  esac\n}\n\n" + functions(Verb.allCases.map(\.rawValue).joined(separator: " "))
  }

  private static func word(_ completion: Completion) -> String {
    switch completion {
    case .mounts: "@mounts"
    case .folders: "@folders"
    case .files: "@files"
    case .list(let words): "@list:\(words[0])"
    case .words(let words): words.joined(separator: " ")
    case .nothing: "@nothing"
    }
  }

  private static func functions(_ verbs: String) -> String {
    #"""
    # The mount points of shares, each on a line.
    _sharefs_mounts() {
      local line
      while read -r line; do
        case $line in *' - fuse.sharefs '*) set -f; set -- $line; set +f; printf '%b\n' "${5//\\/\\0}" ;; esac
      done < /proc/self/mountinfo
    }

    _sharefs() {
      local verb='' i word line token before option current wanted choice
      # Where bash itself takes the word to begin; `=` and `,` stand in the middle of ours.
      current=${COMP_WORDS[COMP_CWORD]}
      [ "$current" = '=' ] && current=''
      line=${COMP_LINE:0:COMP_POINT}
      token=${line##* }
      before=${line%"$token"}
      before=${before%"${before##*[! ]}"}
      option=${before##* }
      for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in -*) ;; *) verb=${COMP_WORDS[i]}; break ;; esac
      done
      COMPREPLY=()
      if [ -z "$verb" ]; then
        COMPREPLY=($(compgen -W "\#(verbs) --help --version" -- "$current"))
        return
      fi
      wanted=''
      case $token in
        --*=*) wanted=$(_sharefs_wanted "$verb" "${token%%=*}"); token=${token#*=} ;;
        -*) COMPREPLY=($(compgen -W "$(_sharefs_options "$verb")" -- "$current")); return ;;
        *) case $option in -*) wanted=$(_sharefs_wanted "$verb" "$option") ;; esac ;;
      esac
      [ -n "$wanted" ] || wanted=$(_sharefs_wanted "$verb" '')
      for choice in $wanted; do
        case $choice in
          @folders) compopt -o filenames 2>/dev/null; mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "$current") ;;
          @files) compopt -o filenames 2>/dev/null; mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$current") ;;
          @mounts)
            compopt -o filenames 2>/dev/null
            while IFS= read -r word; do
              case $word in "$current"*) COMPREPLY+=("$word") ;; esac
            done < <(_sharefs_mounts)
            ;;
          @list:*)
            compopt -o nospace 2>/dev/null
            # Only the part after the last comma is being typed; what bash does not take for part of the word is left out.
            local done='' hidden=${token%"$current"}
            case $token in *,*) done=${token%,*}, ;; esac
            for word in $(_sharefs_list "${choice#@list:}"); do
              case $done$word in "$token"*) word=$done$word; COMPREPLY+=("${word#"$hidden"}") ;; esac
            done
            ;;
          @nothing) ;;
          *) case $choice in "$current"*) COMPREPLY+=("$choice") ;; esac ;;
        esac
      done
    }

    complete -F _sharefs sharefs

    """#
  }
}
