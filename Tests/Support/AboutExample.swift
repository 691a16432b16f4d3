public import Contract

extension About {
    /// The value in the examples of all APIs.
    public static let example = About(
        name: "Example Club", contact: "help@example.com", terms: "https://example.com/terms",
        privacy: "https://example.com/privacy", version: "2026-11")
}
