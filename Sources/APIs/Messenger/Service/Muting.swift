import Backend
import Contract
import ContractServer
import Database
import MessengerAPI

extension MessengerService {
    func muting(_ routes: inout Routes<Messenger, Messenger.User.ID>) {
        routes.on(use: muteChat)
        routes.on(use: unmuteChat)
    }

    func muteChat(_ request: Messenger.MuteChat, from caller: Messenger.User.ID) async throws -> Empty {
        let end = request.until?.milliseconds ?? Muting.endless
        guard end > time.milliseconds() else { throw Messenger.MuteChat.invalidUntil }
        try await database.write { try Muting.set(end, of: request.chat, for: caller, in: $0) }
        return Empty()
    }

    func unmuteChat(_ request: Messenger.UnmuteChat, from caller: Messenger.User.ID) async throws -> Empty {
        try await database.write { try Muting.set(nil, of: request.chat, for: caller, in: $0) }
        return Empty()
    }
}

/// The chats that members have muted. The end of it stands in the member's row, so it goes with the membership.
enum Muting {
    /// The end of a muting that does not end by itself.
    static let endless = Int64.max

    /// - Throws: A `Problem` with 403 for others than members.
    fileprivate static func set(
        _ end: Int64?, of chat: Messenger.Chat.ID, for user: Messenger.User.ID, in db: Session
    ) throws {
        let count = try db.run(
            "UPDATE members SET muted_until = \(end) WHERE chat_id = \(chat) AND user_id = \(user)")
        guard count == 1 else { throw Chats.notAMember }
    }

    /// Returns the muting that ends at a time.
    static func value(until end: Int64) -> Messenger.Mute {
        .init(until: end == endless ? nil : .init(milliseconds: end))
    }
}
