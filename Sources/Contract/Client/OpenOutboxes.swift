/// The outboxes that a client and its copies have opened, so that signing out wipes them.
package final class OpenOutboxes: Sendable {
    private let open = Locked<[@Sendable (_ account: String?) async throws -> Void]>([])

    package init() {}

    /// Adds an outbox, which is not kept alive by it.
    package func add<Content>(_ outbox: DurableOutbox<Content>) {
        open.use { open in
            open.append { [weak outbox] account in
                guard let outbox, account == nil || account == outbox.account else { return }
                try await outbox.wipe()
            }
        }
    }

    /// Removes all items of an account, or of every account.
    ///
    /// - Throws: The first error of a disk. The other outboxes are wiped nevertheless.
    package func wipe(of account: String?) async throws {
        var failure: (any Error)?
        for wipe in open.use({ $0 }) {
            do { try await wipe(account) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }
}
