import ArgumentParser

/// Whether something is done, as options and variables say it.
enum Toggle: String, CaseIterable, ExpressibleByArgument, Sendable {
    case on
    case off
}
