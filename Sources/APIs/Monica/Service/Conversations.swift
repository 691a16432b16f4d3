import Backend
import Contract
import ContractServer
import Database
import MonicaAPI

extension MonicaService {
    func conversations(_ routes: inout Routes<Monica, Caller>) {
        details(&routes, of: Monica.Conversation.self)
        routes.on(answering: createMessage)
        routes.on(use: updateMessage)
        routes.on(use: deleteMessage)
    }

    func createMessage(
        _ request: Monica.CreateMessage, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<APIResponse<Monica.Conversation>> {
        let now = time.milliseconds()
        return try await database.write(info.idempotencyKey, errorMessages: Monica.errorMessages, at: now) {
            [loader = loader(of: caller.account)] db in
            let loader = loader(db)
            let conversation = try Messages.conversation(request.conversation, by: loader)
            let fields = try MessageFields(request.form)
            try fields.requireRoom(beside: conversation.messages)
            try fields.insert(into: conversation.id, at: now, in: db)
            return Answer(.ok, APIResponse(data: try Messages.changed(conversation.id, by: loader, at: now)))
        }
    }

    func updateMessage(
        _ request: Monica.UpdateMessage, from caller: Caller
    ) async throws -> APIResponse<Monica.Conversation> {
        try await update(Monica.Conversation.self, for: caller) { loader, now in
            let conversation = try Messages.conversation(request.conversation, with: request.message, by: loader)
            let fields = try MessageFields(request.form)
            try fields.requireRoom(beside: conversation.messages.filter { $0.id != request.message })
            try loader.db.run(
                """
                UPDATE messages SET content = \(fields.content), written_at = \(fields.writtenAt),
                    written_by_me = \(fields.isMine), updated_at = \(now)
                WHERE id = \(request.message)
                """)
            return try Messages.changed(conversation.id, by: loader, at: now)
        }
    }

    func deleteMessage(_ request: Monica.DeleteMessage, from caller: Caller) async throws -> Monica.Deletion {
        let now = time.milliseconds()
        return try await database.write { [loader = loader(of: caller.account)] db in
            let loader = loader(db)
            let conversation = try Messages.conversation(request.conversation, with: request.message, by: loader)
            try db.run("DELETE FROM messages WHERE id = \(request.message)")
            _ = try Messages.changed(conversation.id, by: loader, at: now)
            return .init(id: request.message)
        }
    }
}

/// The messages of conversations.
private enum Messages {
    /// Locks the account and returns a conversation whose messages are to be changed.
    ///
    /// - Parameter message: The message that the conversation must have.
    /// - Throws: A `Problem` with 404 when the account does not have it.
    static func conversation(
        _ id: Int, with message: Int? = nil, by loader: RecordLoader
    ) throws -> Monica.Conversation {
        try Accounts.lockCaller(loader.account, in: loader.db)
        guard let conversation = try Monica.Conversation.one(id, by: loader) else {
            throw Monica.Problems.notFound(Monica.Conversation.singular)
        }
        guard message == nil || conversation.messages.contains(where: { $0.id == message }) else {
            throw Monica.Problems.notFound(Monica.Message.singular)
        }
        return conversation
    }

    /// Marks a conversation as changed with its messages, and returns it.
    static func changed(_ id: Int, by loader: RecordLoader, at now: Int64) throws -> Monica.Conversation {
        try loader.db.run("UPDATE conversations SET updated_at = \(now) WHERE id = \(id)")
        guard let conversation = try Monica.Conversation.one(id, by: loader) else {
            throw Monica.Problems.notFound(Monica.Conversation.singular)
        }
        return conversation
    }

    /// Returns the messages of conversations by the conversations' ids, without their contacts.
    static func of(_ conversations: [Int], by loader: RecordLoader) throws -> [Int: [Monica.Message]] {
        guard !conversations.isEmpty else { return [:] }
        let messages = try loader.db.all(
            """
            SELECT \(MessageColumn.list) FROM messages
            WHERE conversation_id IN (\(list: conversations)) ORDER BY id
            """
        ) { row in
            Monica.Message(
                id: try row.get(MessageColumn.id), content: try row.get(MessageColumn.content),
                writtenAt: try row.get(MessageColumn.writtenAt), writtenByMe: try row.get(MessageColumn.writtenByMe),
                account: loader.account.number, conversation: try row.get(MessageColumn.conversation),
                createdAt: try row.get(MessageColumn.createdAt), updatedAt: try row.get(MessageColumn.updatedAt))
        }
        return Dictionary(grouping: messages, by: \.conversation.id)
    }
}

struct MessageFields {
    let content: String
    let writtenAt: Int64
    let isMine: Bool

    /// The fields are judged in the order in which Monica 4 judges them.
    init(_ form: Monica.Form) throws {
        var input = FormReader(form)
        let writtenAt = input.moment("written_at", required: true)
        let isMine = input.bool("written_by_me", required: true)
        let content = input.text("content", required: true, upTo: Monica.Conversation.maximumLength)
        try input.check()
        (self.writtenAt, self.isMine, self.content) = (writtenAt ?? 0, isMine ?? false, content ?? "")
    }

    func insert(into conversation: Int, at now: Int64, changedAt: Int64? = nil, in db: Session) throws {
        try db.run(
            """
            INSERT INTO messages (conversation_id, content, written_at, written_by_me, created_at, updated_at)
            VALUES (\(conversation), \(content), \(writtenAt), \(isMine), \(now), \(changedAt ?? now))
            """)
    }

    /// Requires that a conversation has room for the message: each answer about it has all of them.
    func requireRoom(beside others: [Monica.Message]) throws {
        try Self.requireRoom(
            for: others.count + 1, length: others.reduce(content.length, { $0 + $1.content.length }))
    }

    /// Requires that a conversation may have so many messages, with so many characters together.
    static func requireRoom(for count: Int, length: Int) throws {
        let (number, longest) = (Monica.Conversation.maximumNumber, Monica.Conversation.maximumLength)
        guard count <= number else {
            throw Monica.Problems.tooMany("messages", limit: number)
        }
        guard length <= longest else {
            throw Monica.Problems.invalid(["The messages may not be greater than \(longest) characters."])
        }
    }
}

extension Monica.Conversation: ContactDetail {
    static var table: SQL { "conversations" }
    static let names = "conversations"
    var kept: [String: JSONValue] { ["contact_id": .orNull(contact?.id)] }

    static func owned(by account: AccountID) -> SQL { "t.account_id = \(account)" }

    static func order(by sort: Monica.Sort<Monica.ConversationOrder>?) -> ListOrder {
        let column: SQL =
            switch sort?.order {
            case .happenedAt: "t.happened_at"
            case .updatedAt: "t.updated_at"
            case .createdAt, nil: "t.created_at"
            }
        return .order(column, descending: sort?.isDescending ?? false)
    }

    static func load(_ ids: [Int], by loader: RecordLoader) throws -> [Self] {
        let types = try loader.fieldTypes.get()
        var conversations = try load(ids, ConversationColumn.self, by: loader) { id, row in
            guard let type = types[try row.get(ConversationColumn.type)]?.type else { return nil }
            return Self(
                id: id, uuid: try row.get(ConversationColumn.uuid),
                happenedAt: try row.get(ConversationColumn.happenedAt), type: type,
                url: "\(loader.baseURL)/conversations/\(id)", account: loader.account.number,
                createdAt: try row.get(ConversationColumn.createdAt),
                updatedAt: try row.get(ConversationColumn.updatedAt))
        }
        let messages = try Messages.of(conversations.map(\.id), by: loader)
        for index in conversations.indices {
            let contact = conversations[index].contact
            conversations[index].messages = (messages[conversations[index].id] ?? []).map { message in
                var message = message
                message.contact = contact
                return message
            }
        }
        return conversations
    }

    static func deleteParts(of id: Int, in db: Session) throws {
        try db.run("DELETE FROM messages WHERE conversation_id = \(id)")
    }

    struct Fields: ContactDetailFields {
        let contact: Int
        private let happenedAt: Int64
        private let type: Int

        /// The fields are judged in the order in which Monica 4 judges them.
        init(_ form: Monica.Form, by loader: RecordLoader) throws {
            var input = FormReader(form)
            let happenedAt = input.moment("happened_at", required: true)
            let contact = input.integer("contact_id", required: true)
            let type = input.integer("contact_field_type_id", required: true)
            if let type, try loader.fieldTypes.get()[type] == nil { input.rejectSelection("contact_field_type_id") }
            try input.check()
            (self.contact, self.happenedAt, self.type) = (contact ?? 0, happenedAt ?? 0, type ?? 0)
        }

        func insert(uuid: String, by loader: RecordLoader, at now: Int64) throws -> Int? {
            try loader.db.insert(
                """
                INSERT INTO conversations (
                    uuid, account_id, contact_id, type_id, happened_at, created_at, updated_at)
                VALUES (\(uuid), \(loader.account), \(contact), \(type), \(happenedAt), \(now), \(now))
                """)
        }

        func replace(_ id: Int, by loader: RecordLoader, at now: Int64) throws {
            try loader.db.run(
                """
                UPDATE conversations SET type_id = \(type), happened_at = \(happenedAt), updated_at = \(now)
                WHERE id = \(id)
                """)
        }
    }
}

private enum ConversationColumn: String, Columns {
    case uuid = "t.uuid"
    case happenedAt = "t.happened_at"
    case type = "t.type_id"
    case createdAt = "t.created_at"
    case updatedAt = "t.updated_at"

    static let list = ColumnList(Self.self)
}

private enum MessageColumn: String, Columns {
    case id
    case conversation = "conversation_id"
    case content
    case writtenAt = "written_at"
    case writtenByMe = "written_by_me"
    case createdAt = "created_at"
    case updatedAt = "updated_at"

    static let list = ColumnList(Self.self)
}
