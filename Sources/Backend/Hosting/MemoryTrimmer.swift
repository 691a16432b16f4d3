import CAllocator
import Cores
import Foundation
import ServiceLifecycle

/// Returns memory to the system after a burst. Otherwise the allocator keeps freed memory, in as many arenas as there
/// were threads that allocated at once: jemalloc until they allocate again, the C library for ever.
struct MemoryTrimmer: Service {
    /// The bytes above the lowest use at which trimming is not worth its time.
    private static let slack = 8 << 20

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var lowest = ProcessMemory.own ?? 0
            while (try? await Task.sleep(for: .seconds(10))) != nil {
                guard let own = ProcessMemory.own else { return }
                lowest = min(lowest, own)
                if own > lowest + Self.slack { Self.trim() }
            }
        }
        // A service that ends would end the others.
        try? await gracefulShutdown()
    }

    /// Configures GNU's C library, before many threads allocate memory. jemalloc needs no settings.
    static func begin() {
        guard !callocator_is_jemalloc(),
            let set = function("mallopt", as: (@convention(c) (CInt, CInt) -> CInt).self)
        else { return }
        // Each arena keeps what was freed in it; a few arenas are as fast as many (M_ARENA_MAX).
        _ = set(-8, CInt(max(2, min(8, UsableCores.current.count))))
        // Large blocks go back to the system as soon as they are freed (M_MMAP_THRESHOLD). Without this call the limit
        // grows with the size of freed blocks.
        _ = set(-3, 512 << 10)
        // The free memory that may stay at the end of an arena (M_TRIM_THRESHOLD). `malloc_trim` leaves the end of all
        // arenas but the first as it is, so after a burst each arena would keep this much.
        _ = set(-1, 1 << 20)
    }

    private static func trim() {
        if callocator_is_jemalloc() {
            callocator_purge()
        } else {
            _ = function("malloc_trim", as: (@convention(c) (Int) -> CInt).self)?(0)
        }
    }

    /// Returns a function that only some C libraries have.
    private static func function<Function>(_ name: String, as: Function.Type) -> Function? {
        #if os(Linux)
        dlsym(nil, name).map { unsafeBitCast($0, to: Function.self) }
        #else
        nil
        #endif
    }
}
