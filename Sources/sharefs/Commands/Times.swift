import Posix

/// Times as they are shown and typed: UTC, ISO 8601.
enum Times {
  /// `2026-01-31T12:00:00Z`, whole seconds.
  static func text(_ time: FileTime) -> String {
    let seconds =
      time.nanoseconds >= 0 ? time.nanoseconds / 1_000_000_000 : (time.nanoseconds - 999_999_999) / 1_000_000_000
    let days = seconds >= 0 ? seconds / 86400 : (seconds - 86399) / 86400
    let rest = seconds - days * 86400
    let (year, month, day) = date(days)
    // A time in nanoseconds lies between the years 1677 and 2262.
    var text = [UInt8]()
    text.reserveCapacity(20)
    func add(_ number: Int64, _ mark: Unicode.Scalar) {
      text.append(UInt8(ascii: "0") + UInt8(number / 10 % 10))
      text.append(UInt8(ascii: "0") + UInt8(number % 10))
      if mark != " " { text.append(UInt8(ascii: mark)) }
    }
    add(year / 100, " ")
    add(year, "-")
    add(month, "-")
    add(day, "T")
    add(rest / 3600, ":")
    add(rest / 60 % 60, ":")
    add(rest % 60, "Z")
    return String(decoding: text, as: UTF8.self)
  }

  /// From `2026-01-31`, or with `T12:00:00Z` behind it, or seconds since 1970 behind an `@`.
  static func time(_ text: String) -> FileTime? {
    if text.hasPrefix("@") {
      guard let seconds = Double(text.dropFirst()), seconds.magnitude < 9e9 else { return nil }
      return FileTime(nanoseconds: Int64(seconds * 1e9))
    }
    let parts = text.split(separator: "T", maxSplits: 1, omittingEmptySubsequences: false)
    let numbers = parts[0].split(separator: "-", omittingEmptySubsequences: false).map { Int64($0) }
    guard numbers.count == 3, let year = numbers[0], let month = numbers[1], let day = numbers[2],
      (1678...2261).contains(year), (1...12).contains(month), (1...31).contains(day)
    else { return nil }
    var seconds = days(year, month, day) * 86400
    guard date(seconds / 86400 - (seconds < 0 && seconds % 86400 != 0 ? 1 : 0)) == (year, month, day) else {
      return nil
    }
    if parts.count > 1 {
      let clock = parts[1].hasSuffix("Z") ? parts[1].dropLast() : parts[1]
      let fields = clock.split(separator: ":", omittingEmptySubsequences: false).map { Int64($0) }
      guard fields.count == 2 || fields.count == 3, let hour = fields[0], let minute = fields[1],
        let second = fields.count == 3 ? fields[2] : 0, (0...23).contains(hour), (0...59).contains(minute),
        (0...60).contains(second)
      else { return nil }
      seconds += hour * 3600 + minute * 60 + second
    }
    return FileTime(seconds: seconds, nanoseconds: 0)
  }

  /// Days since 1970-01-01 of the Gregorian calendar, by eras of 400 years that begin in March.
  private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func date(_ days: Int64) -> (Int64, Int64, Int64) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth + (shiftedMonth < 10 ? 3 : -9)
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }
}

extension Arguments {
  func time(_ name: String) throws(Failure) -> FileTime? {
    guard let value = value(name) else { return nil }
    guard let time = value.text.flatMap({ Times.time($0) }) else {
      throw .usage(
        "\"--\(name)\" is a time such as 2026-01-31, 2026-01-31T12:00:00Z (UTC) or @SECONDS, not \"\(value)\".", verb)
    }
    return time
  }
}
