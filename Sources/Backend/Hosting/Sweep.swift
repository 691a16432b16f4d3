import ObjectStore

/// How the rows of an API name its stored objects.
public struct ObjectReferences: Sendable {
    /// Returns those of the keys that rows name.
    public let known: @Sendable (_ keys: [String]) async throws -> Set<String>
    /// Returns some keys that rows name, the newest first.
    public let some: @Sendable (_ limit: Int) async throws -> [String]

    public init(
        known: @escaping @Sendable (_ keys: [String]) async throws -> Set<String>,
        some: @escaping @Sendable (_ limit: Int) async throws -> [String]
    ) {
        self.known = known
        self.some = some
    }

    /// Returns those of the keys that no row names.
    func unknown(among keys: [ObjectKey]) async throws -> [ObjectKey] {
        var unknown: [ObjectKey] = []
        // A statement takes only so many values.
        for start in stride(from: 0, to: keys.count, by: 500) {
            let part = keys[start..<min(start + 500, keys.count)]
            let kept = try await known(part.map(\.rawValue))
            unknown += part.filter { !kept.contains($0.rawValue) }
        }
        return unknown
    }
}

/// How many objects a sweep may take. More than both is not what uploads that failed leave behind: rather the database is
/// not the one that belongs to the store, or is an old copy of it.
public struct SweepLimits: Sendable {
    /// Up to so many objects are always taken.
    public var objects = 100
    /// Up to this share of the objects that were looked at is always taken.
    public var share = 0.1
    /// Of what may be taken, so many go in one sweep; the others wait for the next.
    public var atOnce = 10_000

    public init() {}

    /// Takes whatever no row names: for an operator who means it.
    public static var none: SweepLimits {
        var limits = SweepLimits()
        limits.share = 1
        return limits
    }
}

/// What a sweep found and did, in numbers of objects.
public struct SweepReport: Sendable, Equatable {
    /// Old enough to have a row.
    public var looked = 0
    /// Of these, named by no row.
    public var unreferenced = 0
    /// Of these, moved to the trash.
    public var taken = 0
    /// Removed for good, after a week in the trash.
    public var removed = 0
    /// Whether there was more to take than a sweep may: nothing was taken then.
    public var isRefused = false

    public init() {}
}

extension ObjectStore {
    /// How long the trash keeps an object, in seconds.
    private static var trashLifetime: Int64 { 7 * 86_400 }

    /// Moves to the trash what no row names: left by uploads that failed half way, and by rows that were deleted. Removes
    /// what has been in the trash for a week.
    ///
    /// - Parameters:
    ///   - age: In seconds. Younger objects may have no row yet.
    ///   - now: In Unix seconds.
    public func sweep(
        olderThan age: Int64, at now: Int64, keeping references: ObjectReferences, limits: SweepLimits = .init()
    ) async throws -> SweepReport {
        var report = SweepReport()
        var unreferenced: [ObjectKey] = []
        var cursor: String?
        repeat {
            let page = try await keys(olderThan: now - age, after: cursor)
            for key in try await references.unknown(among: page.keys) {
                report.unreferenced += 1
                if unreferenced.count < limits.atOnce { unreferenced.append(key) }
            }
            report.looked += page.keys.count
            cursor = page.next
        } while cursor != nil
        report.isRefused =
            report.unreferenced > limits.objects
            && Double(report.unreferenced) > Double(report.looked) * limits.share
        if !report.isRefused {
            // A row may have come meanwhile: they are asked for again.
            for key in try await references.unknown(among: unreferenced) {
                try await discard(key)
                report.taken += 1
            }
        }
        report.removed = try await emptyTrash(before: now - Self.trashLifetime)
        return report
    }
}
