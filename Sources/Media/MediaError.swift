import CLibAV
import Contracts

/// Why there is no picture: what that makes of the document, and one plain sentence.
struct MediaError: Error, Hashable {
  let verdict: Verdict
  let reason: String

  static func damaged(_ reason: String) -> MediaError { MediaError(verdict: .invalid, reason: reason) }
  static func unsupported(_ reason: String) -> MediaError { MediaError(verdict: .unsupported, reason: reason) }

  static let tooLong = MediaError.unsupported("It takes too long to decode.")
  static let tooManyPixels = MediaError.unsupported("The picture has more than 134 million pixels.")
  static let noMemory = MediaError.unsupported("It needs more memory than a picture may cost.")

  /// What an error code of libav says when `doing` failed.
  init(libav code: CInt, _ doing: String) {
    switch code {
    case CLIBAV_ENOMEM: self = .noMemory
    case CLIBAV_EXIT: self = .tooLong
    case CLIBAV_PATCHWELCOME, CLIBAV_DECODER_NOT_FOUND: self = .unsupported("There is no decoder for it.")
    default: self = .damaged("\(doing) is damaged.")
    }
  }

  init(verdict: Verdict, reason: String) {
    self.verdict = verdict
    self.reason = reason
  }
}
