public import ContractClient

extension LiveConnection.Pacing {
    /// Waits so long for a sign of life that a busy machine is not taken for a peer that is gone.
    public static let patient = LiveConnection.Pacing(patience: .seconds(1200))
}
