import ContractExamples

extension Mutant {
    /// The reason why a run of the checker does not notice one of ``ofDoors(in:)``.
    static let reasonOfDoors = "the operator's settings: RegistrationTests, WordListTests"

    /// Returns the mutants that a run of the checker never meets. They change refusals of a server whose operator has closed
    /// the registration, added bars or a list of words, or asks for its terms, and the answer about such a server.
    public static func ofDoors(in examples: Examples) -> [String: String] {
        let texts = [
            "Registration is closed", "Registration needs an invitation code", "Invitation code is not valid",
            "Email address is not allowed here", "Access from this network is not allowed", "must be accepted",
            "Text contains a word", "ignores invitationCode", "GET /about: null for", "GET /about: another",
            "GET /about: repeats its first answer",
        ]
        let mutants = derived(from: examples).map(\.description).filter { name in texts.contains { name.contains($0) } }
        return Dictionary(uniqueKeysWithValues: mutants.map { ($0, reasonOfDoors) })
    }
}
