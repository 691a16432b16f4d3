import Foundation

/// Programs that read metrics, which `make test` unpacks (Tools/unpack-packages).
public enum Monitors {
    /// Runs one of them: `run prometheus …`. Nil where `make test` has not unpacked them.
    public static let runner = ProcessInfo.processInfo.environment["CONCORD_MONITORS"].map { $0 + "/run" }
}
