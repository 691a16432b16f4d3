import Mail
import NIOConcurrencyHelpers

/// A mailer that keeps e-mails, or refuses them.
public final class TestMailbox: Mailer {
    private struct State {
        var letters: [MailMessage] = []
        var failure: (any Error)?
    }

    private let state = NIOLockedValueBox(State())

    public init() {}

    public var letters: [MailMessage] { state.withLockedValue { $0.letters } }

    /// Refuses every e-mail from now on; nil accepts them again.
    public func fail(with error: (any Error)?) { state.withLockedValue { $0.failure = error } }

    public func send(_ message: MailMessage) async throws {
        try state.withLockedValue { state in
            if let failure = state.failure { throw failure }
            state.letters.append(message)
        }
    }
}
