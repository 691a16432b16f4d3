import Backend
import Contract
import ContractServer
import Database
import DeuceDiaryAPI

extension DeuceDiaryService {
    func reports(_ routes: inout Routes<DeuceDiary, Caller>) {
        routes.on(answering: reportUser)
        routes.on(answering: reportEntry)
    }

    func reportUser(
        _ request: DeuceDiary.ReportUser, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<DeuceDiary.Confirmation> {
        let now = time.milliseconds()
        return try await database.write(info.idempotencyKey, errorMessages: DeuceDiary.errorMessages, at: now) { db in
            guard request.user != caller.user else { throw Problem(.badRequest, "You can't report yourself") }
            try Users.requireKnown(request.user, to: caller.user, in: db)
            // The lock of the other user keeps the picture that the report copies.
            guard try Users.lock([caller.user, request.user], in: db),
                let copy = try Reports.copy(of: request.user, in: db)
            else { throw Users.notFound }
            try Reports.file(
                copy, about: request.user, by: caller.user, request.reason, request.details,
                orRefuse: "You've already reported this user", at: now, in: db)
            return Answer(.ok, .init(message: "User reported"))
        }
    }

    func reportEntry(
        _ request: DeuceDiary.ReportEntry, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<DeuceDiary.Confirmation> {
        let now = time.milliseconds()
        return try await database.write(info.idempotencyKey, errorMessages: DeuceDiary.errorMessages, at: now) { db in
            // The lock waits for transactions that delete the entry or end the membership.
            if let group = try Entries.group(of: request.entry, in: db) { try Groups.lock(group, in: db) }
            try Reactions.require(
                caller.user, toSee: request.entry, or: "Not authorized to access this entry", in: db)
            guard let entry = try Entries.one(request.entry, in: db) else { throw Entries.notFound }
            guard entry.userId != caller.user else { throw Problem(.badRequest, "You can't report your own entry") }
            try Users.lockCaller(caller.user, in: db)
            try Reports.file(
                entry.reportedCopy, about: entry.userId, by: caller.user, request.reason, request.details,
                orRefuse: "You've already reported this entry", at: now, in: db)
            return Answer(.ok, .init(message: "Entry reported"))
        }
    }
}

enum Reports {
    typealias Queue = ReportQueue<Users>

    /// Adds a report. The reporter's row is locked.
    ///
    /// - Throws: A `Problem` with 400 when the user has reported the thing before.
    fileprivate static func file(
        _ copy: ReportedCopy, about author: DeuceDiary.User.ID, by reporter: DeuceDiary.User.ID, _ reason: String,
        _ details: String?, orRefuse refusal: String, at now: Int64, in db: Session
    ) throws {
        guard try !Queue.hasReported(copy.thing, by: reporter, in: db) else { throw Problem(.badRequest, refusal) }
        try Queue.file(
            copy, about: author, by: reporter, because: reason.trimmed, details: details, at: now, in: db)
    }

    fileprivate static func copy(of user: DeuceDiary.User.ID, in db: Session) throws -> ReportedCopy? {
        guard let text = try Users.shownText(of: user, in: db) else { return nil }
        let picture: String?? = try db.value("SELECT picture FROM users WHERE id = \(user)")
        let file = (picture ?? nil).map {
            ReportedFile(key: "\(Pictures.folder)/\($0)", name: $0, type: "image/jpeg", size: nil)
        }
        return ReportedCopy(
            of: WrittenThing(.person, user.rawValue, by: user.rawValue), text: text, files: file.map { [$0] } ?? [])
    }
}

extension DeuceDiary.DeuceEntry {
    /// The text that a report keeps of an entry: the place and the thoughts.
    var text: String { thoughts.isEmpty ? location : "\(location)\n\(thoughts)" }

    /// The copy that a report keeps of the entry.
    var reportedCopy: ReportedCopy {
        let thing = WrittenThing(.entry, id.rawValue, in: groupId.rawValue, by: userId.rawValue)
        return ReportedCopy(of: thing, text: text)
    }
}

extension Users {
    static let notFound = Problem(.notFound, "User not found")

    /// Requires that a user shares a group with another, or sees entries of theirs: no other user learns that there is such
    /// a user.
    ///
    /// - Throws: A `Problem` with 404.
    static func requireKnown(_ user: DeuceDiary.User.ID, to viewer: DeuceDiary.User.ID, in db: Session) throws {
        let groups: SQL = "(SELECT group_id FROM members WHERE user_id = \(viewer))"
        let isKnown = try db.exists(
            """
            SELECT 1 FROM users u WHERE u.id = \(user) AND (
                EXISTS (SELECT 1 FROM members m WHERE m.user_id = u.id AND m.group_id IN \(groups))
                OR EXISTS (SELECT 1 FROM entries e WHERE e.user_id = u.id AND e.group_id IN \(groups)))
            """)
        guard isKnown else { throw notFound }
    }

    /// Returns the names that others see of a user; nil when there is no such user.
    static func shownText(of user: DeuceDiary.User.ID, in db: Session) throws -> String? {
        try db.one("SELECT username, first_name, last_name FROM users WHERE id = \(user)") { row in
            let names: [String?] = [try row.get(0), try row.get(1), try row.get(2)]
            return names.compactMap(\.self).filter { !$0.isEmpty }.joined(separator: " ")
        }
    }
}
