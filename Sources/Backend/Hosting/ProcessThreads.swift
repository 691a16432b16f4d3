import Cores
import NIOCore

/// The event loops and the threads for blocking work that all parts of a process share.
public enum ProcessThreads {
    /// Makes as many of them as the process may use cores (`UsableCores`). A program calls this once, before anything uses them:
    /// NIO would make one for each core of the machine.
    public static func begin() {
        NIOSingletons.groupLoopCountSuggestion = UsableCores.current.count
        NIOSingletons.blockingPoolThreadCountSuggestion = UsableCores.current.count
    }
}
