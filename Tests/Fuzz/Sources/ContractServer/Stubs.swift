import HTTPTypes

// The declarations of other files that the parser uses, so that the rest of the server is not built.

extension HTTPField.Name {
    static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
    static let requestID = HTTPField.Name("X-Request-Id")!
    static let forwardedFor = HTTPField.Name("X-Forwarded-For")!
}

enum MemoryBudget {
    static let small = 16_384
}
