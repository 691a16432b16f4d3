import Mail
import NIOConcurrencyHelpers

/// A mailer that keeps e-mails, or refuses them.
public final class TestMailbox: Mailer {
    private struct State {
        var emails: [MailMessage] = []
        var failure: (any Error)?
    }

    private let state = NIOLockedValueBox(State())

    public init() {}

    public var emails: [MailMessage] { state.withLockedValue { $0.emails } }

    /// Refuses every e-mail from now on; nil accepts them again.
    public func fail(with error: (any Error)?) { state.withLockedValue { $0.failure = error } }

    public func send(_ message: MailMessage) async throws {
        try state.withLockedValue { state in
            if let failure = state.failure { throw failure }
            state.emails.append(message)
        }
    }
}
