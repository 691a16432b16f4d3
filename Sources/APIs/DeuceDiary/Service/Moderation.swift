import Backend
import Contract
import Database
import DeuceDiaryAPI
import ObjectStore

extension DeuceDiaryPeople: ModerationDesk {
    var reportedFiles: any ObjectStore { service.objects }
    var writtenKinds: [ReportedKind] { [.entry, .reaction] }

    func text(of kind: ReportedKind, _ id: String, in db: Session) throws -> String? {
        switch kind {
        case .person: try Users.shownText(of: .init(id), in: db)
        case .entry: try Entries.one(.init(id), in: db)?.text
        default: nil
        }
    }

    func written(
        _ kind: ReportedKind, by people: [DeuceDiary.User.ID], between times: ClosedRange<Int64>,
        behind last: WrittenThing?, limit: Int, in db: Session
    ) throws -> [WrittenThing] {
        let time: SQL = "created_at BETWEEN \(times.lowerBound) AND \(times.upperBound)"
        guard kind == .entry else {
            return try db.all(
                """
                SELECT id, user_id, entry_id FROM reactions
                WHERE user_id IN (\(list: people)) AND \(time) AND id > \(Int64(last?.id ?? "") ?? 0)
                ORDER BY id LIMIT \(limit)
                """
            ) { row in
                WrittenThing(
                    .reaction, "\(try row.get(0, as: Int64.self))", in: try row.get(2), by: try row.get(1))
            }
        }
        return try db.all(
            """
            SELECT id, user_id, group_id FROM entries
            WHERE user_id IN (\(list: people)) AND \(time)
                AND (group_id, id) > (\(last?.place ?? ""), \(last?.id ?? ""))
            ORDER BY group_id, id LIMIT \(limit)
            """
        ) { row in WrittenThing(.entry, try row.get(0), in: try row.get(2), by: try row.get(1)) }
    }

    func remove(
        _ kind: ReportedKind, _ things: [WrittenThing], at now: Int64, in db: Session
    ) throws -> Removal {
        let there: Set<String>
        switch kind {
        case .entry:
            there = Set(try Entries.deleteOfAnyone(things.map { .init($0.id) }, at: now, db).map(\.rawValue))
        case .reaction:
            let ids = things.compactMap { Int64($0.id) }
            there = Set(
                try db.all("DELETE FROM reactions WHERE id IN (\(list: ids)) RETURNING id") {
                    "\(try $0.get(0, as: Int64.self))"
                })
        default: there = []
        }
        return Removal(things.filter { there.contains($0.id) })
    }

    /// The server sends no e-mails here: the users' addresses are the issuer's.
    func send(
        _ letter: ModerationLetter, to person: DeuceDiary.User.ID, at now: Int64, in db: Session
    ) throws -> Bool { false }
}
