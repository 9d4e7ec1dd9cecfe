import Contracts
import Posix

/// What one thread of the pool has its worker do.
extension WorkerPool {
  /// Has a job done, by a new worker when the old one had gone before.
  private func run(
    _ job: Job, document: CInt? = nil, with worker: inout WorkerProcess?
  ) throws(WorkerProcess.Failure) -> (outcome: Outcome, pictures: [[UInt8]]) {
    for _ in 0..<3 {
      guard let present = worker else { throw .stopped }
      do throws(WorkerProcess.Failure) {
        return try present.run(job, document: document)
      } catch {
        switch error {
        case .ours: throw error
        case .notThere:
          retire(&worker)
          worker = launch()
        case .broken, .stopped:
          retire(&worker)
          throw error
        }
      }
    }
    throw .broken("it ends before it gets a job")
  }

  /// What fails is tried again when somebody needs it.
  func draw(_ kind: PlaceholderKind, with worker: inout WorkerProcess?) {
    do throws(WorkerProcess.Failure) {
      let job = Job(number: UInt64.max - UInt64(kind.rawValue), task: .placeholder(kind), boxes: [settings.box])
      guard let bytes = try run(job, with: &worker).pictures.first else {
        throw .broken("it drew nothing")
      }
      do throws(Errno) {
        try store.write(bytes, kind)
        isStoring()
        problems.end(.placeholders, "Placeholders can be drawn again.")
      } catch {
        problems.begin(.cache, .error, cannotStore(error))
      }
    } catch {
      if case .broken(let what) = error {
        problems.begin(.placeholders, .error, "The media worker cannot draw the placeholder \(kind): \(what).")
      }
    }
  }

  private func isStoring() { problems.end(.cache, "Thumbnails can be stored again.") }

  func cannotStore(_ error: Errno) -> String {
    "Thumbnails cannot be stored in \(settings.cacheFolder): \(error). Documents stay pending."
  }

  func work(on ticket: Ticket, with worker: inout WorkerProcess?) -> JobResult {
    let document: Descriptor
    let before: ContentStamp
    let name: [UInt8]
    switch find(ticket) {
    case .failure(let result): return result.result
    case .success(let found):
      document = Descriptor(owning: found.raw)
      before = found.stamp
      name = found.name
    }
    do throws(WorkerProcess.Failure) {
      let job = Job(number: ticket.number, task: .document(name: name), boxes: settings.boxes)
      let (outcome, pictures) = try run(job, document: document.raw, with: &worker)
      do throws(Errno) {
        let after = try document.status().stamp
        if let bytes = pictures.first {
          do throws(Errno) {
            try store.write(bytes, asset: ticket.asset, version: ticket.version)
            isStoring()
            desktop?.bring(Array(pictures.dropFirst()), of: ticket.asset, version: ticket.version)
          } catch {
            return .unstored(error)
          }
          return .done(outcome, pictureSize: Int64(bytes.count), before: before, after: after)
        }
        return .done(outcome, pictureSize: nil, before: before, after: after)
      } catch {
        return .unreadable(error)
      }
    } catch {
      switch error {
      case .ours(let error): return .failed(error)
      case .broken(let what): return .crashed(what)
      case .notThere, .stopped: return .abandoned
      }
    }
  }

  private struct Found {
    let raw: CInt
    let stamp: ContentStamp
    let name: [UInt8]
  }

  private struct NotFound: Error {
    let result: JobResult
  }

  /// Opens the document by one of its names, if that leads to it.
  private func find(_ ticket: Ticket) -> Result<Found, NotFound> {
    var worst: Errno?
    for place in ticket.places {
      do throws(Errno) {
        let document = try source.open(place)
        let status = try document.status()
        guard status.kind == .regular, source.id(status) == ticket.file else { continue }
        return .success(Found(raw: document.release(), stamp: status.stamp, name: Array(place.name?.bytes ?? [])))
      } catch {
        if !error.isAbsence { worst = error }
      }
    }
    guard let worst else { return .failure(NotFound(result: .gone)) }
    let isOurs = [.tooManyOpen, .noMemory, .notConnected, .again, .tooManyOpenInAll].contains(worst)
    return .failure(NotFound(result: isOurs ? .failed(worst) : .unreadable(worst)))
  }
}
