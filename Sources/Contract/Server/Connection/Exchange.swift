import HTTPTypes

extension ConnectionGuard {
    /// The request that is with the server, until its answer has been handed to the network.
    struct Exchange {
        let isHead: Bool
        /// Whether the client, or NIO's decoder, takes no request after this one.
        let isLast: Bool
        /// Whether the client holds its body back until the server asks it to continue.
        var awaitsContinue: Bool
        /// The number of bytes of the body that may come in before the server asks for more.
        var credit: Int
        var isAnswered = false
        /// Whether the received part of the body takes memory that other requests may wait for.
        var isHeld = false

        /// - Parameter isDemanded: Whether a large body is requested piece by piece.
        init(_ request: HTTPRequest, isDemanded: Bool) {
            isHead = request.method == .head
            isLast = request.headerFields.endConnection
            awaitsContinue = BodyDemand.isAwaited(by: request.headerFields)
            credit = isDemanded && BodyDemand.isNeeded(for: request.headerFields) ? 0 : .max
        }
    }
}

extension HTTPFields {
    /// Whether `Connection` has the option `close` (RFC 9112 §9.6).
    fileprivate var endConnection: Bool {
        guard let options = value(of: .connection) else { return false }
        return options.split(separator: ",").contains { option in
            option.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }.lowercased() == "close"
        }
    }
}
