import HTTPTypes

/// The id of a request in answers and logs.
enum RequestID {
    /// Returns the client's own id when it is 1 to 128 visible ASCII characters, else a new UUID.
    static func make(for headers: HTTPFields) -> String {
        if let own = headers.value(of: .requestID), 1...128 ~= own.utf8.count,
            own.utf8.allSatisfy({ 0x21...0x7E ~= $0 })
        {
            return own
        }
        return RandomUUID.make()
    }
}
