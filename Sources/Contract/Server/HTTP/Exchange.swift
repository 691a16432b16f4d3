import HTTPTypes

extension ConnectionGuard {
    /// The request that is with the server, until its answer has been handed to the network.
    struct Exchange {
        let isHead: Bool
        /// The client sends its body only once it is told to go on.
        var awaitsContinue: Bool
        /// How many bytes of the body may come in before the server asks for more.
        var credit: Int
        var isAnswered = false
        /// Whether the answer says how long its body is.
        var hasLength = true
        /// Whether the part of the body that has come takes room that others may wait for.
        var isHeld = false

        /// - Parameter isDemanded: Whether somebody asks for a large body piece by piece.
        init(_ request: HTTPRequest, isDemanded: Bool) {
            isHead = request.method == .head
            awaitsContinue = BodyDemand.isAwaited(by: request.headerFields)
            credit = isDemanded && BodyDemand.isNeeded(for: request.headerFields) ? 0 : .max
        }
    }
}
