import Foundation

/// The space that uploads leave free on a disk, so that the databases can still be written.
public struct DiskReserve: Sendable {
    /// The space of a disk, in bytes.
    public struct Space: Sendable {
        /// The space that this process may still use.
        public var available: Int64
        public var total: Int64

        public init(available: Int64, total: Int64) {
            self.available = available
            self.total = total
        }
    }

    /// The reserve in bytes; nil for the larger of 1 GiB and a twentieth of the disk.
    private let minimum: Int64?
    private let space: @Sendable (_ path: String) throws -> Space

    /// Makes a reserve.
    ///
    /// - Parameters:
    ///   - minimum: The reserve in bytes; nil for the larger of 1 GiB and a twentieth of the disk.
    ///   - space: Returns the space of the disk of a path.
    public init(
        minimum: Int64? = nil, space: @escaping @Sendable (_ path: String) throws -> Space = Self.space(at:)
    ) {
        self.minimum = minimum
        self.space = space
    }

    /// Throws ``InsufficientStorage`` when the disk of `path` has less space left. It blocks.
    public func check(_ path: String) throws {
        let space = try space(path)
        guard space.available >= bytes(of: space) else { throw InsufficientStorage() }
    }

    /// Returns the space of the disk of a path. It blocks.
    public func space(of path: String) throws -> Space { try space(path) }

    /// Returns the reserve on a disk, in bytes.
    public func bytes(of space: Space) -> Int64 { minimum ?? max(1 << 30, space.total / 20) }

    /// Returns the space that the operating system reports.
    public static func space(at path: String) throws -> Space {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { throw FileSystemError(call: "statvfs", path: path, code: errno) }
        let block = Int64(status.f_frsize)
        return Space(available: Int64(status.f_bavail) * block, total: Int64(status.f_blocks) * block)
    }
}

/// The error for a disk with less space than the reserve.
public struct InsufficientStorage: Error {
    public init() {}
}
