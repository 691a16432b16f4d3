import Foundation

/// The long form of the tests that break things under load.
public enum Torture {
    /// Whether `make torture` runs the tests, which then take minutes instead of seconds.
    public static let isOn = ProcessInfo.processInfo.environment["CONCORD_TORTURE"] == "1"
    /// The time limit of a suite in minutes. On a busy machine the long form takes hours.
    public static let minutes = isOn ? 240 : 30
}
