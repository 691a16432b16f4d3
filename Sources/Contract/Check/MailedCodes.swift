/// A world whose server sends e-mails, which an operator's scenarios read.
package protocol MailedWorld {
    /// Returns the texts of the e-mails to an address, those that were sent at one time in any order; nil where no operator
    /// shows them.
    var sentEmails: (@Sendable (_ address: String) async throws -> [String])? { get }
}

extension MailedWorld {
    /// Returns the texts of the e-mails to an address.
    ///
    /// - Throws: ``CheckFailure`` where no operator shows them.
    package func emails(to address: String) async throws -> [String] {
        guard let sentEmails else { throw CheckFailure("only an operator sees the e-mails") }
        return try await sentEmails(address)
    }

    /// Returns the codes of the e-mails to an address: each has a line of its own.
    package func codes(at address: String) async throws -> [String] {
        try await emails(to: address).compactMap { email in
            email.firstMatch(of: #/\n([A-Za-z0-9_-]{43})\n/#).map { String($0.output.1) }
        }
    }

    /// Returns the code of the one e-mail whose code is not known yet.
    ///
    /// - Throws: ``CheckFailure`` when there is none, or more than one.
    package func code(at address: String, besides known: [String] = []) async throws -> String {
        let new = try await codes(at: address).filter { !known.contains($0) }
        guard let code = new.first, new.count == 1 else { throw CheckFailure("\(new.count) new codes") }
        return code
    }
}
