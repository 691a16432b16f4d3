import Foundation
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import ObjectStore

/// Uploads leave a part of the disk free.
@Suite(.timeLimit(.minutes(30))) struct DiskReserveTests {
    private func isEnough(_ available: Int64, of total: Int64, minimum: Int64? = nil) -> Bool {
        let reserve = DiskReserve(minimum: minimum) { _ in .init(available: available, total: total) }
        do { try reserve.check("/") } catch { return false }
        return true
    }

    @Test func `by default it is a gibibyte, or a twentieth of a larger disk`() {
        let gib: Int64 = 1 << 30
        #expect(isEnough(gib, of: 10 * gib) && !isEnough(gib - 1, of: 10 * gib))
        #expect(isEnough(5 * gib, of: 100 * gib) && !isEnough(5 * gib - 1, of: 100 * gib))
        #expect(isEnough(7, of: 100 * gib, minimum: 7) && !isEnough(6, of: 100 * gib, minimum: 7))
        #expect(isEnough(0, of: 100 * gib, minimum: 0))
    }

    @Test func `the system knows a disk`() throws {
        let space = try DiskReserve.space(at: NSTemporaryDirectory())
        #expect(space.total > 0 && 0...space.total ~= space.available)
        #expect(throws: FileSystemError.self) { try DiskReserve.space(at: "/nowhere/at/all") }
    }

    /// The disk fills up while an upload arrives.
    @Test func `an upload stops when the disk gets full`() async throws {
        let folder = try TemporaryFolder()
        let available = NIOLockedValueBox<Int64>(10 << 20)
        let reserve = DiskReserve(minimum: 1 << 20) { _ in
            .init(available: available.withLockedValue { $0 }, total: 100 << 20)
        }
        let store = try LocalObjectStore(
            folder: folder.path, keys: signingKeys(1), baseURL: "http://h/objects",
            reserve: reserve, now: { 0 })
        let file = try await store.spool()
        let piece = ByteBuffer(repeating: 65, count: 1 << 20)
        var taken = 0
        await #expect(throws: InsufficientStorage.self) {
            while taken < 100 {
                try await file.append(piece)
                taken += 1
                available.withLockedValue { $0 -= 1 << 20 }
            }
        }
        // The free space is read every 4 MiB.
        #expect(9...13 ~= taken)
        try await file.discard()
        await #expect(throws: InsufficientStorage.self) { try await store.spool() }
        // Readiness does not depend on it, and stored objects are served.
        try await store.check()
        available.withLockedValue { $0 = 10 << 20 }
        try await store.spool().discard()
        #expect(folder.files(in: "uploads") == [])
    }
}
