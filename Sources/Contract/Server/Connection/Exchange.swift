import HTTPTypes

extension ConnectionState {
    /// The request that is with the server, until its answer has been handed to the network.
    struct Exchange {
        /// The number of bytes that are read for one demand of more of a body.
        static let credit = 65_536

        let isHead: Bool
        let isOld: Bool
        /// Whether the client takes no answer after this one.
        let isLast: Bool
        let fields: HTTPFields
        /// Whether the client holds its body back until the server asks it to continue.
        var awaitsContinue: Bool
        /// The number of bytes of the body that may come in before the server asks for more.
        var credit: Int
        var hasAnswerBegun = false
        /// Whether the answer says that it is the last.
        var isClosing = false
        var isAnswered = false
        /// Whether the received part of the body takes memory that other requests may wait for.
        var isHeld = false

        /// - Parameter isDemanded: Whether a large body is requested piece by piece.
        init(_ head: RequestHead, isDemanded: Bool) {
            isHead = head.method == .head
            isOld = head.isOld
            isLast = head.isLast
            fields = head.fields
            awaitsContinue = head.awaitsContinue
            credit = isDemanded && head.isReadOnDemand ? 0 : .max
        }
    }
}
