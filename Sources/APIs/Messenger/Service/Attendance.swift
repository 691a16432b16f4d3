import Database
import EventBus
import Foundation
import MessengerAPI
import NIOConcurrencyHelpers

/// Finds out which users have a live socket that is subscribed to a chat, on any node.
///
/// The subscriptions of a node are in its memory alone, so every node is asked, by the way of the events. A node that does
/// not answer in time has no subscribers: its users are then notified although they see the message.
final class Attendance: Sendable {
    /// The random name of a question.
    typealias Question = String

    private struct Answer: Sendable {
        let users: [Messenger.User.ID]
        let isLast: Bool
    }

    private let hub: LiveHub
    private let database: Database
    private let questions = NIOLockedValueBox<[Question: AsyncStream<Answer>.Continuation]>([:])
    private let announcing = NIOLockedValueBox<@Sendable (LiveAnnouncement) -> Void>({ _ in })

    init(hub: LiveHub, database: Database) {
        self.hub = hub
        self.database = database
    }

    /// Announces to every node, this one among them.
    var announce: @Sendable (LiveAnnouncement) -> Void {
        get { announcing.withLockedValue { $0 } }
        set { announcing.withLockedValue { $0 = newValue } }
    }

    /// Returns the users with a subscribed socket.
    ///
    /// - Parameter patience: The time for which nodes are waited for.
    func users(in chat: Messenger.Chat.ID, patience: Duration) async throws -> Set<Messenger.User.ID> {
        var waiting = try await database.countNodes()
        let question = UUID().uuidString
        let (answers, continuation) = AsyncStream<Answer>.makeStream()
        questions.withLockedValue { $0[question] = continuation }
        defer { questions.withLockedValue { $0[question] = nil } }
        announce(.asked(question, in: chat))
        let deadline = Task {
            try await Task.sleep(for: patience)
            continuation.finish()
        }
        defer { deadline.cancel() }
        var users: Set<Messenger.User.ID> = []
        for await answer in answers {
            users.formUnion(answer.users)
            if answer.isLast { waiting -= 1 }
            if waiting <= 0 { break }
        }
        return users
    }

    /// Answers a question, or takes an answer, of any node.
    func receive(_ announcement: LiveAnnouncement) {
        switch announcement {
        case .asked(let question, let chat): answer(question, in: chat)
        case .attend(let question, let users, let isLast):
            questions.withLockedValue { $0[question] }?.yield(Answer(users: users, isLast: isLast))
        default: break
        }
    }

    /// Answers a question with the users of this node.
    private func answer(_ question: Question, in chat: Messenger.Chat.ID) {
        Task {
            let users = try await hub.ask(.chat(chat)) { ($0 as? Subscription)?.user }
            var rest = Set(users).sorted()[...]
            repeat {
                let some = rest.prefix(LiveAnnouncement.maximumUsers)
                rest = rest.dropFirst(some.count)
                announce(.attend(question, Array(some), isLast: rest.isEmpty))
            } while !rest.isEmpty
        }
    }
}
