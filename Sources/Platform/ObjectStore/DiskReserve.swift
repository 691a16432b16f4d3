import Foundation

/// The space that uploads leave free on a disk, so that what matters more can still be written: the databases of those
/// who sign in and write text.
public struct DiskReserve: Sendable {
    /// What there is of a disk, in bytes.
    public struct Space: Sendable {
        /// What this process may still use.
        public var available: Int64
        public var total: Int64

        public init(available: Int64, total: Int64) {
            self.available = available
            self.total = total
        }
    }

    /// In bytes; nil for the larger of 1 GiB and a twentieth of the disk.
    private let minimum: Int64?
    private let space: @Sendable (_ path: String) throws -> Space

    /// - Parameters:
    ///   - minimum: In bytes; nil for the larger of 1 GiB and a twentieth of the disk.
    ///   - space: Looks at the disk that has a path.
    public init(
        minimum: Int64? = nil, space: @escaping @Sendable (_ path: String) throws -> Space = Self.space(at:)
    ) {
        self.minimum = minimum
        self.space = space
    }

    /// Throws ``InsufficientStorage`` when the disk that has `path` has less left. Blocks.
    public func check(_ path: String) throws {
        let space = try space(path)
        guard space.available >= minimum ?? max(1 << 30, space.total / 20) else { throw InsufficientStorage() }
    }

    /// Asks the operating system.
    public static func space(at path: String) throws -> Space {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { throw FileSystemError(call: "statvfs", path: path, code: errno) }
        let block = Int64(status.f_frsize)
        return Space(available: Int64(status.f_bavail) * block, total: Int64(status.f_blocks) * block)
    }
}

/// The disk has less space left than is kept in reserve.
public struct InsufficientStorage: Error {
    public init() {}
}
