import Posix
import Testing

@testable import sharefs

private let verbs = Verb.allCases.map(\.rawValue).joined(separator: ", ")

@Suite struct ArgumentsTests {
  private func read(_ words: String...) throws(Failure) -> Invocation {
    try Invocation(words.map { FileName($0) })
  }

  private func arguments(_ words: String...) throws -> Arguments {
    let invocation = try Invocation(words.map { FileName($0) })
    guard case .verb(let arguments) = invocation else {
      Issue.record("not a verb: \(invocation)")
      return Arguments(.status)
    }
    return arguments
  }

  @Test func aVerbTakesOptionsAndOperandsInAnyOrder() throws {
    let mount = try arguments("sharefs", "mount", "a", "-o", "ro", "b", "--state=s", "-ov,w", "--foreground")
    #expect(mount.verb == .mount)
    #expect(mount.operands == [FileName("a"), FileName("b")])
    #expect(mount.values("options") == [FileName("ro"), FileName("v,w")])
    #expect(mount.value("state") == FileName("s"))
    #expect(mount.has("foreground") && !mount.has("verbose"))
  }

  @Test func shortSwitchesStandTogether() throws {
    let mount = try arguments("sharefs", "mount", "-fvo", "ro", "a")
    #expect(mount.has("foreground") && mount.has("verbose"))
    #expect(mount.values("options") == [FileName("ro")])
  }

  @Test func afterTwoDashesEverythingIsAnOperand() throws {
    #expect(try arguments("sharefs", "umount", "--", "--lazy").operands == [FileName("--lazy")])
    #expect(try arguments("sharefs", "info", "-").operands == [FileName("-")])
  }

  @Test func namesOfAnyBytesComeThrough() throws {
    let name = FileName([0xff, 0xfe, UInt8(ascii: "\n")])
    let invocation = try Invocation([FileName("sharefs"), FileName("info"), name])
    #expect(invocation == .verb(Arguments(.info, operands: [name])))
  }

  @Test func helpAndVersionAreFoundAnywhere() throws {
    #expect(try read("sharefs", "--help") == .help(nil))
    #expect(try read("sharefs", "help", "list") == .help(.list))
    #expect(try read("sharefs", "mount", "a", "--help") == .help(.mount))
    #expect(try read("sharefs", "--version") == .version)
    #expect(try arguments("sharefs", "unmount", "a").verb == .umount)
  }

  @Test(arguments: [
    (["sharefs"], "Say what to do: \(verbs)."),
    (["sharefs", "mont"], "There is no verb or option \"mont\"; the verbs are \(verbs)."),
    (["sharefs", "mount"], "`sharefs mount` needs a folder to mount."),
    (["sharefs", "mount", "a", "b", "c"], "\"c\" is one argument too many."),
    (["sharefs", "mount", "--stat", "a"], "`sharefs mount` has no option \"--stat\"."),
    (["sharefs", "mount", "-x", "a"], "`sharefs mount` has no option \"-x\"."),
    (["sharefs", "mount", "a", "-o"], "\"--options\" needs its LIST."),
    (["sharefs", "umount", "--lazy=1", "a"], "\"--lazy\" takes no value."),
    (
      ["sharefs", "help", "nothing"],
      "There is no verb or option \"nothing\"; the verbs are \(verbs)."
    ),
    (["mount.sharefs", "a"], "A mount helper needs SOURCE and MOUNTPOINT."),
    (["mount.sharefs", "a", "b", "-q"], "A mount helper has no option \"-q\"."),
  ])
  func aWrongCallIsToldInOneSentence(words: [String], sentence: String) {
    let failure = failure { () throws(Failure) in _ = try Invocation(words.map { FileName($0) }) }
    #expect(failure?.sentence == sentence)
    #expect(failure?.code == .usage)
    #expect(failure?.hint?.isEmpty == false)
  }

  @Test(arguments: ["mount.sharefs", "/usr/sbin/mount.fuse.sharefs"])
  func itIsAMountHelperByItsName(program: String) throws {
    let mount = try arguments(program, "/src", "/dst", "-sfnv", "-o", "rw,dev", "-t", "fuse.sharefs")
    #expect(mount.operands == [FileName("/src"), FileName("/dst")])
    #expect(mount.has("sloppy") && mount.has("fake") && mount.has("verbose"))
    #expect(mount.values("options") == [FileName("rw,dev")])
  }

  @Test func itIsAMountHelperByItsArguments() throws {
    #expect(try arguments("sharefs", "/src", "/dst", "-o", "rw").operands == [FileName("/src"), FileName("/dst")])
    #expect(try arguments("mount.sharefs", "/src", "/src").operands == [FileName("/src")])
  }
}
