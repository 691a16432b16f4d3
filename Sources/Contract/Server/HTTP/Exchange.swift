import HTTPTypes

extension ConnectionGuard {
    /// The request that is with the server, until its answer has been handed to the network.
    struct Exchange {
        let isHead: Bool
        /// Whether the client holds its body back until the server asks it to continue.
        var awaitsContinue: Bool
        /// The number of bytes of the body that may come in before the server asks for more.
        var credit: Int
        var isAnswered = false
        /// Whether the answer has a length.
        var hasLength = true
        /// Whether the received part of the body takes memory that other requests may wait for.
        var isHeld = false

        /// - Parameter isDemanded: Whether a large body is requested piece by piece.
        init(_ request: HTTPRequest, isDemanded: Bool) {
            isHead = request.method == .head
            awaitsContinue = BodyDemand.isAwaited(by: request.headerFields)
            credit = isDemanded && BodyDemand.isNeeded(for: request.headerFields) ? 0 : .max
        }
    }
}
