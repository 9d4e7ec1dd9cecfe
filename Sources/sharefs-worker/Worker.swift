import Posix

/// The process that reads what people drop into a share. It is started by the daemon with a channel as descriptor 3, tells that it
/// is ready, and answers jobs until the channel ends.
@main struct Worker {
  static func main() { serve() }
}
