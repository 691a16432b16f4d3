import Backend
import Contract
import ContractServer
import Database
import MessengerAPI
import ObjectStore

extension MessengerPeople: ModerationDesk {
    var reportedFiles: any ObjectStore { service.objects }
    var writtenKinds: [ReportedKind] { [.message, .file] }

    func text(of kind: ReportedKind, _ id: String, in db: Session) throws -> String? {
        switch kind {
        case .person: try Users.id(written: id).flatMap { try Users.shownText(of: $0, in: db) }
        case .message: try Int64(id).flatMap { try Messages.one(.init($0), in: db)?.content }
        default: nil
        }
    }

    func written(
        _ kind: ReportedKind, by people: [Messenger.User.ID], between times: ClosedRange<Int64>,
        behind last: WrittenThing?, limit: Int, in db: Session
    ) throws -> [WrittenThing] {
        let time: SQL = "created_at BETWEEN \(times.lowerBound) AND \(times.upperBound)"
        let place = Int64(last?.place ?? "") ?? 0
        let id = Int64(last?.id ?? "") ?? 0
        guard kind == .message else {
            return try db.all(
                """
                SELECT id, owner_id FROM files WHERE owner_id IN (\(list: people)) AND \(time) AND id > \(id)
                ORDER BY id LIMIT \(limit)
                """
            ) { row in
                WrittenThing(
                    .file, "\(try row.get(0, as: Int64.self))", by: "\(try row.get(1, as: Int64.self))")
            }
        }
        // The index of a chat's messages has their senders, so that it is read instead of the messages. One of senders
        // would cost each message that is sent.
        return try db.all(
            """
            SELECT id, chat_id, sender_id FROM messages
            WHERE (chat_id, id) > (\(place), \(id)) AND sender_id IN (\(list: people)) AND \(time)
            ORDER BY chat_id, id LIMIT \(limit)
            """
        ) { row in
            WrittenThing(
                .message, "\(try row.get(0, as: Int64.self))", in: "\(try row.get(1, as: Int64.self))",
                by: "\(try row.get(2, as: Int64.self))")
        }
    }

    func remove(
        _ kind: ReportedKind, _ things: [WrittenThing], at now: Int64, in db: Session
    ) throws -> Removal {
        let ids = things.compactMap { Int64($0.id) }
        switch kind {
        case .message:
            let (removed, objects) = try service.delete(messages: ids.map { .init($0) }, at: now, in: db)
            let there = Set(removed.map { "\($0)" })
            return Removal(things.filter { there.contains($0.id) }) { [service] in
                await service.remove(objects: objects)
            }
        case .file:
            // What a message or a profile uses stays.
            let objects = try Files.release(ids.map { .init($0) }, in: db)
            let left = Set(
                try db.all("SELECT id FROM files WHERE id IN (\(list: ids))") { try $0.get(0, as: Int64.self) })
            return Removal(things.filter { !(Int64($0.id).map(left.contains) ?? true) }) { [service] in
                await service.remove(objects: objects)
            }
        default: return Removal([])
        }
    }

    func send(
        _ letter: ModerationLetter, to person: Messenger.User.ID, at now: Int64, in db: Session
    ) throws -> Bool {
        try service.emails.send(letter, of: "Messenger", to: person, at: now, in: db)
    }
}

extension MessengerService {
    /// Deletes messages of any sender, for an operator. The sockets of their chats are told.
    ///
    /// - Returns: The messages that were there, and the keys of stored objects that no file names any more.
    func delete(
        messages: [Messenger.Message.ID], at now: Int64, in db: Session
    ) throws -> (messages: [Messenger.Message.ID], objects: [String]) {
        let chats: [Messenger.Chat.ID] = try db.all(
            "SELECT DISTINCT chat_id FROM messages WHERE id IN (\(list: messages)) ORDER BY chat_id"
        ) { try $0.get(0) }
        var removed: [Messenger.Message.ID] = []
        var files: [Messenger.File.ID] = []
        for chat in chats {
            try db.lock("chats", where: "id = \(chat)")
            let there = try db.all(
                """
                SELECT id, file_id FROM messages WHERE chat_id = \(chat) AND id IN (\(list: messages)) ORDER BY id
                """
            ) { row in
                (id: try row.get(0, as: Messenger.Message.ID.self), file: try row.get(1, as: Messenger.File.ID?.self))
            }
            guard !there.isEmpty else { continue }
            let counted = try db.update(
                "chats", set: "version = version + \(there.count), events = events + \(there.count)",
                where: "id = \(chat)", returning: "version, events"
            ) { row in (version: try row.get(0, as: Int64.self), events: try row.get(1, as: Int64.self)) }
            guard let counted else { continue }
            try Messages.delete(
                there.map(\.id), of: chat, to: counted.version, keeping: settings.keptDeletions, at: now, in: db)
            try Chats.dateByNewestMessage(chat, in: db)
            for (place, message) in there.enumerated() {
                // The last of them has the chat's present numbers.
                let behind = Int64(there.count - 1 - place)
                announce(
                    .deleted(.init(id: message.id, chat: chat), version: counted.version - behind),
                    as: EventNumber(counted.events - behind, of: chat), in: db)
            }
            removed += there.map(\.id)
            files += there.compactMap(\.file)
        }
        return (removed, try Files.release(files.sorted(), in: db))
    }
}
