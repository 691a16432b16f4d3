import Backend
import Contract
import ContractServer
import Database
import GTSDAPI
import HTTPTypes
import ObjectStore

extension GTSDService {
    /// Decides about uploads to the URLs that ``presignPhoto(_:from:_:)`` returns, for a store that this process
    /// serves.
    public var uploads: UploadPolicy {
        UploadPolicy { key, put in
            try await self.uploadLocks.withLock(key.rawValue) {
                switch try await self.database.read({ try Photos.state(of: key.rawValue, in: $0) }) {
                case .gone: throw Problem(.gone, "Nothing can be uploaded here any more")
                case .confirmed: try await put(.taken)
                case .expected: try await put(.open)
                }
            }
        }
    }

    /// Removes the stored files of deleted photos. A file that cannot be removed now is tried again by each sweep.
    func removeDiscarded(_ keys: [String]) async {
        for text in keys {
            guard let key = ObjectKey(text) else { continue }
            do {
                // The lock waits for an upload in progress; a later one is refused.
                try await uploadLocks.withLock(text) { try await objects.delete(key) }
                let now = time.milliseconds()
                try await database.write { db in
                    try db.run(
                        """
                        UPDATE discarded_objects SET removed_at = \(now) WHERE file_key = \(text) AND removed_at IS NULL
                        """)
                }
            } catch {
                continue
            }
        }
    }

    func sweepObjects(limits: SweepLimits) async throws -> SweepReport {
        try await endReservations()
        try await forgetDiscarded()
        let discarded: [String] = try await database.read { db in
            try db.all(
                "SELECT file_key FROM discarded_objects WHERE removed_at IS NULL ORDER BY file_key LIMIT 1000"
            ) { try $0.get(0) }
        }
        await removeDiscarded(discarded)
        return try await objects.sweep(
            olderThan: Self.orphanAge, at: time.seconds, keeping: ObjectReferences(Self.storedFiles, in: database),
            limits: limits)
    }

    public static let storedFiles = [
        StoredFileColumn("photos", "file_key", newest: "id"),
        StoredFileColumn("uploads", "file_key", newest: "url_expires_at", mayBeAbsent: true),
        Archives<Users>.files,
    ]

    /// Deletes the records of discarded keys whose last upload URL has expired. A store that this process does not
    /// serve has accepted uploads until then, so the object is deleted first.
    private func forgetDiscarded() async throws {
        let removed = time.milliseconds() - (Self.urlLifetime + Self.uploadTime) * 1000
        while true {
            let keys: [String] = try await database.read { db in
                try db.all("SELECT file_key FROM discarded_objects WHERE removed_at <= \(removed) LIMIT 500") {
                    try $0.get(0)
                }
            }
            if keys.isEmpty { return }
            for text in keys {
                guard let key = ObjectKey(text) else { continue }
                try await uploadLocks.withLock(text) { try await objects.delete(key) }
            }
            try await database.write { db in
                try db.run("DELETE FROM discarded_objects WHERE file_key IN (\(list: keys))")
            }
        }
    }

    /// Ends the reservations of uploads that did not come in time. Uploads that were not confirmed within a day end,
    /// too, and their files are removed.
    private func endReservations() async throws {
        let now = time.milliseconds()
        let expired = now - Self.uploadTime * 1000
        let abandoned = now - (Self.orphanAge - Self.urlLifetime) * 1000
        var last: (end: Int64, key: String) = (0, "")
        while true {
            let page: [(end: Int64, key: String)] = try await database.read { [last] db in
                try db.all(
                    """
                    SELECT url_expires_at, file_key FROM uploads
                    WHERE url_expires_at <= \(expired) AND (url_expires_at, file_key) > (\(last.end), \(last.key))
                    ORDER BY url_expires_at, file_key LIMIT 500
                    """
                ) { (try $0.get(0), try $0.get(1)) }
            }
            guard let end = page.last else { return }
            last = end
            for (end, text) in page {
                guard let key = ObjectKey(text) else { continue }
                try await uploadLocks.withLock(text) {
                    let isStored = try await objects.attributes(of: key) != nil
                    guard !isStored || end <= abandoned else { return }
                    try await database.write { db in
                        // It may have been confirmed in the meantime, or its URL may have been renewed.
                        guard try Photos.endReservation(text, ifExpiredBy: expired, in: db) else { return }
                        if isStored { try Photos.discard([text], in: db) }
                    }
                }
            }
        }
    }
}

extension Photos {
    // MARK: Reservations

    /// Returns the bytes that a user has stored or reserved.
    static func storage(of user: UserID, in db: Session) throws -> Int64 {
        try db.value(
            """
            SELECT (SELECT COALESCE(SUM(file_size), 0) FROM photos WHERE user_id = \(user))
                + (SELECT COALESCE(SUM(size), 0) FROM uploads WHERE user_id = \(user))
            """) ?? 0
    }

    /// Reserves storage for an upload.
    static func reserve(_ key: String, _ size: Int64, of user: UserID, until end: Int64, in db: Session) throws {
        try db.run(
            """
            INSERT INTO uploads (file_key, user_id, size, url_expires_at) VALUES (\(key), \(user), \(size), \(end))
            """)
    }

    /// Ends a reservation.
    ///
    /// - Parameter cutoff: Reservations that expire later are kept; nil ends any.
    /// - Returns: Whether there was such a reservation.
    static func endReservation(_ key: String, ifExpiredBy cutoff: Int64? = nil, in db: Session) throws -> Bool {
        try db.run("DELETE FROM uploads WHERE file_key = \(key) AND url_expires_at <= \(cutoff ?? .max)") > 0
    }

    // MARK: Keys

    enum State {
        /// A file may be uploaded.
        case expected
        case confirmed
        /// The key can never be used for a photo again.
        case gone
    }

    static func state(of key: String, in db: Session) throws -> State {
        if try isDiscarded(key, in: db) { return .gone }
        if try one(key, in: db) != nil { return .confirmed }
        // URLs from before there were reservations have no reservation. They are accepted if their user exists.
        let user = key.split(separator: "/").dropFirst().first.flatMap { Int64($0) } ?? 0
        let isExpected = try db.exists(
            """
            SELECT 1 FROM uploads WHERE file_key = \(key) UNION ALL SELECT 1 FROM users WHERE id = \(user)
            """)
        return isExpected ? .expected : .gone
    }

    static func isDiscarded(_ key: String, in db: Session) throws -> Bool {
        try db.exists("SELECT 1 FROM discarded_objects WHERE file_key = \(key)")
    }

    /// Marks keys whose stored objects must be removed.
    static func discard(_ keys: [String], in db: Session) throws {
        for key in keys {
            try db.run(
                "INSERT INTO discarded_objects (file_key) VALUES (\(key)) ON CONFLICT (file_key) DO NOTHING")
        }
    }

    /// Returns the keys of a user's photos and reserved uploads.
    static func keys(of user: UserID, in db: Session) throws -> [String] {
        try db.all(
            """
            SELECT file_key FROM photos WHERE user_id = \(user)
            UNION ALL SELECT file_key FROM uploads WHERE user_id = \(user)
            """
        ) { try $0.get(0) }
    }
}
