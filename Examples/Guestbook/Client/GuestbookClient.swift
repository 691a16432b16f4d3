@_exported import ContractClient
@_exported import GuestbookAPI

/// The guestbook for an app: `signIn`, `send` for every operation, and what an app would write itself.
public typealias GuestbookClient = SessionClient<Guestbook>

extension GuestbookClient {
    /// Returns all entries, the newest first, a page at a time as they are asked for.
    public func entries(pageSize: Int = 50) -> Pages<Guestbook.Entry, Guestbook.ListEntries> {
        Pages(from: Guestbook.ListEntries(limit: pageSize)) { request in
            let page = try await send(request)
            return (page, page.count < pageSize ? nil : .init(limit: pageSize, before: page.last?.id))
        }
    }

    /// Returns every entry from now on, each once and in order, whatever happens to the network.
    public func live() -> AsyncThrowingStream<Guestbook.Entry, any Error> { live(at: "live", after: entries()) }
}
