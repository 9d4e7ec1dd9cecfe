/// Joins the parts and serves the share until it is unmounted.
/// - Returns: what the process ends with.
func runShare(_ plan: MountPlan, ready: consuming ReadyPipe) -> ExitCode {
  ready.fail(Failure(.mountFailed, "The parts of this program are not joined yet: it cannot mount."))
  return .mountFailed
}
