import Backend
import Contract
import Database
import DunbarAPI
import ObjectStore

extension DunbarPeople: ModerationDesk {
    var reportedFiles: any ObjectStore { service.objects }
    var writtenKinds: [ReportedKind] { [.post, .comment] }

    func text(of kind: ReportedKind, _ id: String, in db: Session) throws -> String? {
        guard let number = Int64(id) else { return nil }
        switch kind {
        case .person: return try Users.shownText(of: .init(number), in: db)
        case .post: return try db.value("SELECT content FROM posts WHERE id = \(number)")
        case .comment: return try db.value("SELECT content FROM comments WHERE id = \(number)")
        default: return nil
        }
    }

    func written(
        _ kind: ReportedKind, by people: [Dunbar.User.ID], between times: ClosedRange<Int64>,
        behind last: WrittenThing?, limit: Int, in db: Session
    ) throws -> [WrittenThing] {
        let table: SQL = kind == .post ? "posts" : "comments"
        let place: SQL = kind == .post ? "NULL" : "post_id"
        return try db.all(
            """
            SELECT id, user_id, \(place) FROM \(table)
            WHERE user_id IN (\(list: people)) AND id > \(Int64(last?.id ?? "") ?? 0)
                AND created_at BETWEEN \(times.lowerBound) AND \(times.upperBound)
            ORDER BY id LIMIT \(limit)
            """
        ) { row in
            WrittenThing(
                kind, "\(try row.get(0, as: Int64.self))", in: try row.get(2, as: Int64?.self).map { "\($0)" },
                by: "\(try row.get(1, as: Int64.self))")
        }
    }

    func remove(
        _ kind: ReportedKind, _ things: [WrittenThing], at now: Int64, in db: Session
    ) throws -> Removal {
        let ids = things.compactMap { Int64($0.id) }
        let there: Set<Int64>
        var names: [String] = []
        switch kind {
        case .post:
            let removed = try Posts.delete(ids.map { .init($0) }, at: now, in: db)
            there = Set(removed.posts.map(\.rawValue))
            names = removed.files
        case .comment: there = Set(try Comments.delete(ids.map { .init($0) }, at: now, in: db).map(\.rawValue))
        default: there = []
        }
        return Removal(things.filter { Int64($0.id).map(there.contains) ?? false }) { [service, names] in
            await service.remove(names)
        }
    }

    func send(_ letter: ModerationLetter, to person: Dunbar.User.ID, at now: Int64, in db: Session) throws -> Bool {
        try service.emails.send(letter, of: "Dunbar", to: person, at: now, in: db)
    }
}
