/// The number by which the kernel and we call an inode. A key of a table, never a pointer, and never given twice in one mount, so that a number
/// that the kernel remembers for too long finds nothing instead of somebody else.
public struct NodeID: Hashable, Sendable {
  public let raw: UInt64
  public init(_ raw: UInt64) { self.raw = raw }

  /// The share's own folder, by the kernel's convention.
  public static let root = NodeID(1)
  /// Numbers with this bit belong to a virtual view.
  public static let viewBit: UInt64 = 1 << 63

  public var isInView: Bool { raw & NodeID.viewBit != 0 }
}
