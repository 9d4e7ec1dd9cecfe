import Posix

/// Everything that was decided before a share is mounted.
struct MountPlan: Sendable {
  /// Absolute, without links.
  let source: FileName
  /// O_PATH, opened before anything covers it.
  let sourceFolder: SharedDescriptor
  /// Absolute, without links; the same as `source` in place.
  let mountpoint: FileName
  let options: MountOptions
  /// Locked for this process until it ends.
  let location: ShareLocation
  /// The path of `sharefs-worker`.
  let worker: FileName
  let log: Log

  var isInPlace: Bool { source == mountpoint }
}
