import Backend
import Contract
import ContractServer
import Database
import DunbarAPI

extension DunbarService {
    func reports(_ routes: inout Routes<Dunbar, Caller>) {
        routes.on(answering: reportPost)
        routes.on(answering: reportUser)
        routes.on(answering: reportComment)
    }

    func reportPost(
        _ request: Dunbar.ReportPost, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<Dunbar.Confirmation> {
        let now = time.milliseconds()
        return try await database.write(info.idempotencyKey, errorMessages: Dunbar.errorMessages, at: now) { db in
            let author = try Posts.requireVisible(request.post, to: caller.user, in: db)
            guard author != caller.user else { throw Problem(.badRequest, "You cannot report your own post") }
            try request.validate()
            try Users.lockCaller(caller.user, in: db)
            guard try Posts.lock(request.post, in: db), let copy = try Reports.copy(of: request.post, in: db) else {
                throw Posts.notFound
            }
            try Reports.file(
                copy, about: author, by: caller.user, request.reason, request.details,
                orRefuse: "You have already reported this post", at: now, in: db)
            return Answer(.ok, .init(message: "Post reported"))
        }
    }

    func reportUser(
        _ request: Dunbar.ReportUser, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<Dunbar.Confirmation> {
        let now = time.milliseconds()
        return try await database.write(info.idempotencyKey, errorMessages: Dunbar.errorMessages, at: now) { db in
            guard try Users.exists(request.user, for: caller.user, in: db) else { throw Users.notFound }
            guard request.user != caller.user else { throw Problem(.badRequest, "You cannot report yourself") }
            try request.validate()
            // The lock of the other user keeps the photo that the report copies.
            guard try Users.lock([caller.user, request.user], in: db),
                let copy = try Reports.copy(of: request.user, in: db)
            else { throw try Users.missingUser(for: caller.user, in: db) }
            try Reports.file(
                copy, about: request.user, by: caller.user, request.reason, request.details,
                orRefuse: "You have already reported this user", at: now, in: db)
            return Answer(.ok, .init(message: "User reported"))
        }
    }

    func reportComment(
        _ request: Dunbar.ReportComment, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<Dunbar.Confirmation> {
        let now = time.milliseconds()
        return try await database.write(info.idempotencyKey, errorMessages: Dunbar.errorMessages, at: now) { db in
            guard let author = try Comments.requireVisible(request.comment, to: caller.user, in: db).first else {
                throw Comments.notFound
            }
            guard author != caller.user else { throw Problem(.badRequest, "You cannot report your own comment") }
            try request.validate()
            try Users.lockCaller(caller.user, in: db)
            try db.lock("comments", where: "id = \(request.comment)")
            guard let copy = try Reports.copy(of: request.comment, in: db) else { throw Comments.notFound }
            try Reports.file(
                copy, about: author, by: caller.user, request.reason, request.details,
                orRefuse: "You have already reported this comment", at: now, in: db)
            return Answer(.ok, .init(message: "Comment reported"))
        }
    }
}

enum Reports {
    typealias Queue = ReportQueue<Users>

    /// The statements that move the reports of a version without a queue into it. A node of that version may add others
    /// while this one runs; the sweep brings those.
    static let adoption = [
        """
        INSERT INTO filed_reports (
            reporter_id, person_id, kind, thing_id, content, reason, details, created_at, ends_at)
        SELECT reporter_id, author_id, 'post', CAST(post_id AS TEXT), content, reason, details, created_at, ends_at
        FROM reports ORDER BY id
        """,
        """
        INSERT INTO report_files (report_id, object_key, name, type, size)
        SELECT DISTINCT q.id, '\(MediaFile.folder)/' || m.name, m.name, '', m.size
        FROM reports r JOIN filed_reports q ON q.kind = 'post' AND q.thing_id = CAST(r.post_id AS TEXT)
            JOIN media m ON m.post_id = r.post_id
        WHERE r.media_count > 0
        ON CONFLICT (report_id, object_key) DO NOTHING
        """,
        "DELETE FROM reports",
    ]

    static func sweep(at now: Int64, in db: Session) throws {
        if try db.exists("SELECT 1 FROM reports LIMIT 1") {
            for statement in adoption { try db.run(SQL(trusted: statement)) }
        }
        try Queue.sweep(at: now, in: db)
    }

    /// Adds a report. The reporter's row is locked.
    ///
    /// - Throws: A `Problem` with 400 when the user has reported the thing before.
    fileprivate static func file(
        _ copy: ReportedCopy, about author: Dunbar.User.ID, by reporter: Dunbar.User.ID, _ reason: Dunbar.ReportReason,
        _ details: String?, orRefuse refusal: String, at now: Int64, in db: Session
    ) throws {
        guard try !Queue.hasReported(copy.thing, by: reporter, in: db) else { throw Problem(.badRequest, refusal) }
        let details = details?.trimmed
        try Queue.file(
            copy, about: author, by: reporter, because: reason.rawValue, details: details == "" ? nil : details,
            at: now, in: db)
    }

    static func copy(of post: Dunbar.Post.ID, in db: Session) throws -> ReportedCopy? {
        let row = try db.one("SELECT content, user_id, media FROM posts WHERE id = \(post)") { row in
            (
                text: try row.get(0, as: String.self), author: try row.get(1, as: Int64.self),
                files: try row.get(2, as: String.self)
            )
        }
        guard let row else { return nil }
        let sizes = Dictionary(
            uniqueKeysWithValues: try db.all("SELECT name, size FROM media WHERE post_id = \(post)") {
                (try $0.get(0, as: String.self), try $0.get(1, as: Int64?.self))
            })
        return ReportedCopy(
            of: WrittenThing(.post, "\(post)", by: "\(row.author)"), text: row.text,
            files: row.files.split(separator: " ").map { ReportedFile(media: "\($0)", size: sizes["\($0)"] ?? nil) })
    }

    fileprivate static func copy(of user: Dunbar.User.ID, in db: Session) throws -> ReportedCopy? {
        guard let text = try Users.shownText(of: user, in: db) else { return nil }
        let photo: String?? = try db.value("SELECT photo FROM users WHERE id = \(user)")
        return ReportedCopy(
            of: WrittenThing(.person, "\(user)", by: "\(user)"), text: text,
            files: (photo ?? nil).map { [ReportedFile(media: $0, size: nil)] } ?? [])
    }

    static func copy(of comment: Dunbar.Comment.ID, in db: Session) throws -> ReportedCopy? {
        try db.one("SELECT content, post_id, user_id FROM comments WHERE id = \(comment)") { row in
            ReportedCopy(
                of: WrittenThing(
                    .comment, "\(comment)", in: "\(try row.get(1, as: Int64.self))",
                    by: "\(try row.get(2, as: Int64.self))"), text: try row.get(0))
        }
    }
}

extension ReportedFile {
    fileprivate init(media name: String, size: Int64?) {
        self.init(
            key: "\(MediaFile.folder)/\(name)", name: name, type: MediaFile.type(of: name)?.contentType ?? "",
            size: size)
    }
}

extension Users {
    /// Returns the display name and the text about a user, which others see; nil when there is no such user.
    static func shownText(of user: Dunbar.User.ID, in db: Session) throws -> String? {
        try db.one("SELECT display_name, bio FROM users WHERE id = \(user)") { row in
            let texts: [String?] = [try row.get(0), try row.get(1)]
            return texts.compactMap(\.self).filter { !$0.isEmpty }.joined(separator: "\n")
        }
    }
}
