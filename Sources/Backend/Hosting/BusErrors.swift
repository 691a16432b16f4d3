import CSignals

/// Writes why the process ends, before SIGBUS ends it.
public enum BusErrors {
    /// The cause, and what to do about it.
    public static let message =
        "a page of a mapped file cannot be read: the process ends with SIGBUS. Look at the disk; the next start checks the "
        + "databases"

    /// Says ``message`` when a mapped page cannot be read. The process then ends by the signal, without another word.
    ///
    /// - Parameter line: Returns the message as a line of the log, with its end. The line is made now, without a time, because
    ///   a handler of signals can only write bytes.
    public static func explain(as line: (String) -> String) { csignals_explain_bus_errors(line(message)) }
}
