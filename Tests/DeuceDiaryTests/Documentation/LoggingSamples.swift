import DeuceDiaryClient
import Foundation
import Testbed

// The samples of Logging.md.

enum LoggingSamples {
    static func log(
        _ diary: DeuceDiaryClient, groups ids: [DeuceDiary.Group.ID], show: ([DeuceDiary.DeuceEntry]) -> Void
    ) async throws {
        let groups = ids.map(Identified.init)
        // sample
        let places = try await diary.locations()
        let logged = try await diary.log(
            DeuceDiary.LogDeuce(
                groups: groups.map(\.id), location: places[0].name, thoughts: "A throne worthy of a king"))
        show(logged.entries)
        // end
    }

    static func keepToOneself(_ diary: DeuceDiaryClient, groups ids: [DeuceDiary.Group.ID]) async throws {
        let groups = ids.map(Identified.init)
        // sample
        try await diary.log(
            DeuceDiary.LogDeuce(groups: groups.map(\.id), location: "Dr. Doe's clinic", thoughts: ""),
            addingPlace: false)
        // end
    }

    static func keep(
        _ diary: DeuceDiaryClient, me id: DeuceDiary.User.ID, groups ids: [DeuceDiary.Group.ID], in folder: URL,
        show: (String) -> Void
    ) async throws -> DeuceDiaryOutbox {
        let (me, groups) = (Identified(id), ids.map(Identified.init))
        // sample
        let outbox = try await diary.outbox(of: me.id, in: folder)
        try await outbox.log(.init(groups: groups.map(\.id), location: "Home", thoughts: "In a tunnel"))
        for item in await outbox.items {
            guard case .failed(let failure) = item.state else { continue }
            show(failure.errorDescription ?? "")
            try await outbox.retry(item.id)
        }
        // end
        return outbox
    }

    static func feed(_ diary: DeuceDiaryClient, show: (String, String, [String]) -> Void) async throws {
        // sample
        for try await item in diary.feed() { show(item.user.displayName, item.thoughts, item.reactions.map(\.emoji)) }
        // end
    }

    static func delete(_ diary: DeuceDiaryClient, entry id: DeuceDiary.DeuceEntry.ID) async throws {
        let entry = Identified(id)
        // sample
        try await diary.delete(entry.id)
        // end
    }

    static func react(
        _ diary: DeuceDiaryClient, entry id: DeuceDiary.DeuceEntry.ID
    ) async throws -> [DeuceDiary.UserReaction] {
        let entry = Identified(id)
        // sample
        do {
            try await diary.send(DeuceDiary.AddReaction(entry: entry.id, emoji: "💩"))
        } catch let error as APIError where error.status == .badRequest {
            try await diary.send(DeuceDiary.RemoveReaction(entry: entry.id, emoji: "💩"))
        }
        let reactions = try await diary.send(DeuceDiary.ListReactions(entry: entry.id))
        // end
        return reactions
    }

    static func record(_ diary: DeuceDiaryClient) async throws {
        // sample
        if let top = try await diary.topDay() { print("\(top.count) on \(top.date)") }
        // end
    }
}
