import CLinux
import Glibc

/// Who watches which inodes, as /proc shows it of the processes that we may look into.
public enum Watches {
  /// The numbers of a file system's inodes that somebody watches by inotify or fanotify.
  /// - Parameter device: the file system's, as in a file's status.
  public static func inodes(on device: UInt64) -> Set<UInt64> {
    let wanted = kernelNumber(device)
    var all: Set<UInt64> = []
    for process in (try? ProcessTable.all()) ?? [] {
      let base = FileName("/proc/\(process)")
      let descriptors = base.appending("fd")
      for name in (try? Files.names(in: descriptors)) ?? [] {
        guard let target = try? Files.target(descriptors.appending(name)), isWatch(target),
          let page = try? Files.readStream(base.appending("fdinfo").appending(name), limit: 64 << 20)
        else { continue }
        for line in page.split(separator: UInt8(ascii: "\n")) {
          if let (inode, device) = marked(line), device == wanted { all.insert(inode) }
        }
      }
    }
    return all
  }

  /// A device's number as the kernel prints it, 20 bits for the minor one.
  static func kernelNumber(_ device: UInt64) -> UInt64 {
    let major = device >> 8 & 0xfff | device >> 32 & 0xffff_f000
    let minor = device & 0xff | device >> 12 & 0xffff_ff00
    return major << 20 | minor
  }

  /// `anon_inode:inotify`, `anon_inode:[fanotify]`
  private static func isWatch(_ target: FileName) -> Bool {
    target.hasPrefix("anon_inode:") && (target.hasSuffix("inotify") || target.hasSuffix("fanotify]"))
  }

  /// `inotify wd:1 ino:9e7e sdev:800013 mask:800afce ...`, `fanotify ino:4f969 sdev:800013 ...`
  static func marked(_ line: ArraySlice<UInt8>) -> (inode: UInt64, device: UInt64)? {
    func number(_ field: String) -> UInt64? {
      line.split(separator: UInt8(ascii: " ")).first { $0.starts(with: field.utf8) }.flatMap {
        UInt64(String(decoding: $0.dropFirst(field.utf8.count), as: UTF8.self), radix: 16)
      }
    }
    guard let inode = number("ino:"), let device = number("sdev:") else { return nil }
    return (inode, device)
  }
}
