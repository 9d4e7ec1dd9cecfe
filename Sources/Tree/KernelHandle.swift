/// An open thing that the kernel keeps a pointer to as its file handle, from open to release.
protocol KernelHandle: AnyObject {}

extension KernelHandle {
  /// The pointer for the kernel; it counts as an owner until `take`.
  func handle() -> UInt64 { unsafe UInt64(UInt(bitPattern: Unmanaged.passRetained(self).toOpaque())) }

  static func at(_ handle: UInt64) -> Self {
    unsafe Unmanaged<Self>.fromOpaque(UnsafeRawPointer(bitPattern: UInt(handle))!).takeUnretainedValue()
  }

  @discardableResult
  static func take(_ handle: UInt64) -> Self {
    unsafe Unmanaged<Self>.fromOpaque(UnsafeRawPointer(bitPattern: UInt(handle))!).takeRetainedValue()
  }
}
