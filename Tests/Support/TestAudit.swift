public import Backend

extension Audit {
    /// The author of changes that a test makes by itself.
    public static let test = Audit(actor: "test", action: "test")
}
