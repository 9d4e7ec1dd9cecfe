import Contracts
public import Posix

/// How a share's tree is served.
public struct TreeSettings: Sendable {
  /// Nothing can change the backing folder but through the mount.
  public var isExclusive: Bool
  public var thumbs: Thumbs
  /// The view of whole documents.
  public var ready: Thumbs
  /// Where the mount is seen, for what the daemon does through it (see `Announcer`).
  public var mountpoint: FileName
  /// Whether all processes that can reach the mount can be looked into (see `Watchers`).
  public var seesAllProcesses = true
  /// How many descriptors are kept for what was used last, beside those of what is open.
  public var keptDescriptors = DescriptorCache.usualCapacity

  public enum Thumbs: Hashable, Sendable {
    /// Shown in the share's root.
    case listed
    /// Can be opened by who knows the name.
    case hidden
    case off
  }

  public init(isExclusive: Bool, thumbs: Thumbs, ready: Thumbs = .hidden, mountpoint: FileName) {
    self.isExclusive = isExclusive
    self.thumbs = thumbs
    self.ready = ready
    self.mountpoint = mountpoint
  }

  /// Seconds for which the kernel may believe names and attributes: for ever where nothing changes behind its back.
  var lifetime: Double { isExclusive ? 86400 : 1 }
  /// Seconds for which it may believe that there is no such name.
  var lifetimeOfAbsence: Double { isExclusive ? 86400 : 0 }
}
