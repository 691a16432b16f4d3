public import ContractServer

extension ConnectionGuard.Limits {
    /// Limits for tests that are not about them: a busy machine may need long for what a client does at once.
    public static var patient: ConnectionGuard.Limits {
        var limits = ConnectionGuard.Limits()
        limits.header = .minutes(25)
        limits.keepAlive = .minutes(25)
        limits.bodyProgress = .minutes(25)
        limits.answerProgress = .minutes(25)
        return limits
    }
}
