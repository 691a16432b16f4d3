import ObjectStore

/// Looks up which stored objects the rows of an API name.
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
        // A statement can only have a limited number of values.
        for start in stride(from: 0, to: keys.count, by: 500) {
            let part = keys[start..<min(start + 500, keys.count)]
            let kept = try await known(part.map(\.rawValue))
            unknown += part.filter { !kept.contains($0.rawValue) }
        }
        return unknown
    }
}

/// The limits on how many objects a sweep may remove. Failed uploads leave only a few objects behind. More than both
/// limits means that the database does not belong to the store, or is an old copy.
public struct SweepLimits: Sendable {
    /// The number of objects that a sweep may always remove.
    public var objects = 100
    /// The share of all objects that a sweep may always remove.
    public var share = 0.1
    /// The most objects that one sweep removes. The next sweep removes the others.
    public var atOnce = 10_000

    public init() {}

    /// Limits that let a sweep remove every object that no row names, for operators who ask for that.
    public static var none: SweepLimits {
        var limits = SweepLimits()
        limits.share = 1
        return limits
    }
}

/// The numbers of objects that a sweep has found and removed.
public struct SweepReport: Sendable, Equatable {
    /// The objects that are old enough to have a row.
    public var examined = 0
    /// The objects among them that no row names.
    public var unreferenced = 0
    /// The objects among those that were moved to the trash.
    public var trashed = 0
    /// The objects that were removed for good, after a week in the trash.
    public var removed = 0
    /// Whether more objects were unused than a sweep may remove; nothing was moved then.
    public var isRefused = false

    public init() {}
}

extension ObjectStore {
    /// The time in seconds for which the trash keeps an object.
    private static var trashLifetime: Int64 { 7 * 86_400 }

    /// Moves objects that no row names to the trash. They are left behind by uploads that failed half way and by
    /// deleted rows. Objects that have been in the trash for a week are removed.
    ///
    /// - Parameters:
    ///   - age: The age in seconds below which objects are left alone, because their row may not have been written yet.
    ///   - now: The time in Unix seconds.
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
            report.examined += page.keys.count
            cursor = page.next
        } while cursor != nil
        report.isRefused =
            report.unreferenced > limits.objects
            && Double(report.unreferenced) > Double(report.examined) * limits.share
        if !report.isRefused {
            // A row may have been added in the meantime, so the rows are queried again.
            for key in try await references.unknown(among: unreferenced) {
                try await discard(key)
                report.trashed += 1
            }
        }
        report.removed = try await emptyTrash(before: now - Self.trashLifetime)
        return report
    }
}
