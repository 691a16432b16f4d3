import Contract
import Database
import Foundation

/// The number of things that were removed of a person, as a command prints it.
package struct RemovedContent: Codable, Equatable, Sendable {
    let api: String
    let id: String
    let name: String?
    let removed: Int
}

/// Removes what people wrote where others see it.
public struct RemoveContent: OperatorCommand, PrintingCommand {
    package typealias Entry = RemovedContent
    public static let name = "people remove-content"
    public static let role = OperatorRole.moderate

    var people: [NamedPerson]
    /// The time in milliseconds since 1970 from which it is removed; nil for all of it.
    var since: Int64?
    var reason: String
    var format: ListFormat

    public init(of people: [NamedPerson], since: Date?, because reason: String, format: ListFormat) {
        self.people = people
        self.since = since.map { Int64($0.timeIntervalSince1970 * 1000) }
        self.reason = reason
        self.format = format
    }

    public func run(in context: OperatorContext) async throws {
        let desk = try context.moderation()
        for (person, count) in try await desk.removeContent(of: people, since: since, because: reason, in: context) {
            let removed = RemovedContent(api: person.api, id: person.id, name: person.name, removed: count)
            try await print(removed, as: format, on: context.console) { removed in
                let name = removed.name.map { " \($0.quoted)" } ?? ""
                return ["\(removed.api) \(removed.id)\(name): \(removed.removed) removed"]
            }
        }
    }
}

extension ModerationDesk {
    /// Removes what people wrote, a little at a time, so that what other people do comes in between.
    ///
    /// - Returns: How much was removed of each person.
    fileprivate func removeContent(
        of named: [NamedPerson], since: Int64?, because reason: String, in context: OperatorContext
    ) async throws -> [(person: PersonRecord, count: Int)] {
        let now = time.milliseconds()
        if let since, since > now { throw OperatorError("--since is a time that is still to come") }
        // The audit says it before the first thing is removed: an operator who is interrupted gives the command again.
        let people = try await change(named, because: reason, in: context) { id, _, _ in id }
        var counts: [String: Int] = [:]
        for kind in writtenKinds {
            var last: WrittenThing?
            while true {
                let page = try await context.database.read { [last] db in
                    try self.written(
                        kind, by: people.map(\.result), between: (since ?? 0)...(now + ContentSlices.ahead),
                        behind: last,
                        limit: ContentSlices.read, in: db)
                }
                guard let end = page.last else { break }
                last = end
                for start in stride(from: 0, to: page.count, by: ContentSlices.removed) {
                    let slice = Array(page[start..<min(start + ContentSlices.removed, page.count)])
                    let begun = ContinuousClock.now
                    let removal = try await context.database.write { db in
                        try self.remove(kind, slice, at: now, in: db)
                    }
                    await removal.finish()
                    for thing in removal.things { counts[thing.author ?? "", default: 0] += 1 }
                    let taken = ContinuousClock.now - begun
                    try await Task.sleep(for: max(taken, ContentSlices.spacing - taken))
                }
            }
        }
        return people.map { ($0.person, counts[$0.person.id] ?? 0) }
    }
}

/// The number of things that a command handles at once.
private enum ContentSlices {
    /// The milliseconds by which what was written before the command may be dated after it: times of a list only grow. What
    /// is written meanwhile ends there, too, so that the command ends.
    static let ahead: Int64 = 60_000
    /// The things that are looked up in one read.
    static let read = 1000
    /// The things that are removed in one transaction: others wait for it for about a millisecond.
    static let removed = 10
    /// The time from the beginning of a transaction to that of the next, so that most requests of others meet none: 1,250 things
    /// are removed in a second. Where a transaction takes longer than half of it, the pause is as long as the transaction.
    static let spacing = Duration.milliseconds(8)
}
