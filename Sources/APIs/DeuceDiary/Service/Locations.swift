import Backend
import Contract
import ContractServer
import Database
import DeuceDiaryAPI
import HTTPTypes

extension DeuceDiaryService {
    /// The number of locations that one user may add.
    static let maximumLocations = 100

    func locations(_ routes: inout Routes<DeuceDiary, Caller>) {
        routes.open(use: listLocations)
        routes.on(answering: createLocation)
    }

    func listLocations(
        _ request: DeuceDiary.ListLocations, _ info: RequestInfo
    ) async throws -> [DeuceDiary.Location] {
        try await count(info)
        let limit = min(request.limit ?? .max, DeuceDiary.ListLocations.maximum)
        let (offset, overflow) = ((request.page ?? 1) - 1).multipliedReportingOverflow(by: limit)
        if overflow { return [] }
        return try await database.read(from: .replica) { try Locations.page(from: offset, limit: limit, in: $0) }
    }

    func createLocation(
        _ request: DeuceDiary.CreateLocation, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<DeuceDiary.Location> {
        let now = time.milliseconds()
        let flagged = settings.flaggedWords.finding(in: request)
        return try await database.write(info.idempotencyKey, errorMessages: DeuceDiary.errorMessages, at: now) { db in
            // The lock keeps two concurrent requests from both adding the last location.
            try Users.lockCaller(caller.user, in: db)
            let location = try Locations.insert(request.name.trimmed, by: caller.user, at: now, in: db)
            guard try Locations.count(of: caller.user, in: db) <= Self.maximumLocations else {
                throw Problem(.badRequest, "Location limit reached")
            }
            try Reports.Queue.flag(flagged, person: caller.user, at: now, in: db)
            return Answer(.ok, location)
        }
    }
}

extension DeuceDiaryService {
    /// The result of deleting a location for the operator.
    public enum LocationDeletion: Hashable, Sendable {
        case deleted
        /// There is no location with this name.
        case unknown
        /// The location is one that the contract lists.
        case isDefault
    }

    /// Deletes a location that a user has added from the list that all users read. Entries that name it keep their
    /// text.
    ///
    /// - Parameter name: The location's name, in upper or lower case.
    public static func deleteLocation(
        _ name: String, in database: Database, audit: Audit
    ) async throws -> LocationDeletion {
        try await database.write { db in
            let deletion = try Locations.delete(name.trimmed, in: db)
            if case .deleted = deletion { try audit.record(name.trimmed, in: db) }
            return deletion
        }
    }
}

enum Locations {
    static func page(from offset: Int, limit: Int, in db: Session) throws -> [DeuceDiary.Location] {
        try db.all(pageQuery(from: offset, limit: limit), DeuceDiary.Location.init(row:))
    }

    private static let columns: SQL = "id, name, is_default, created_by, created_at"

    /// Returns the locations that a user has added, by name.
    static func all(of user: DeuceDiary.User.ID, in db: Session) throws -> [DeuceDiary.Location] {
        try db.all(
            "SELECT \(columns) FROM locations WHERE created_by = \(user) ORDER BY name_key",
            DeuceDiary.Location.init(row:))
    }

    static func pageQuery(from offset: Int, limit: Int) -> SQL {
        """
        SELECT \(columns) FROM locations
        ORDER BY is_default DESC, name_key LIMIT \(limit) OFFSET \(offset)
        """
    }

    /// - Throws: A `Problem` with 400 when there is a location with the name, or with one that looks like it.
    static func insert(
        _ name: String, by user: DeuceDiary.User.ID, at now: Int64, in db: Session
    ) throws -> DeuceDiary.Location {
        let taken = Problem(.badRequest, "Location already exists")
        guard try FoldedNames.isFree(name, in: "locations", db) else { throw taken }
        let id: DeuceDiary.Location.ID? = try db.insert(
            """
            INSERT INTO locations (name, name_key, folded_name, is_default, created_by, created_at)
            VALUES (\(name), \(name.lowercased()), \(name.foldedForComparison), 0, \(user), \(now)) ON CONFLICT DO NOTHING
            """)
        guard let id else { throw taken }
        return .init(id: id, name: name, isDefault: false, createdBy: user, createdAt: .init(milliseconds: now))
    }

    static func delete(_ name: String, in db: Session) throws -> DeuceDiaryService.LocationDeletion {
        let key = name.lowercased()
        if try db.run("DELETE FROM locations WHERE name_key = \(key) AND is_default = 0") > 0 { return .deleted }
        return try db.exists("SELECT 1 FROM locations WHERE name_key = \(key)") ? .isDefault : .unknown
    }

    static func count(of user: DeuceDiary.User.ID, in db: Session) throws -> Int {
        try db.value("SELECT COUNT(*) FROM locations WHERE created_by = \(user)") ?? 0
    }
}

extension DeuceDiary.Location {
    fileprivate init(row: borrowing Row) throws {
        self.init(
            id: try row.get(0), name: try row.get(1), isDefault: try row.get(2), createdBy: try row.get(3),
            createdAt: try row.get(4))
    }
}
