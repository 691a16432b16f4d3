/// A sequence of all elements of a paged list, which reads a page when its elements are asked for.
public struct Pages<Element: Sendable, Cursor: Sendable>: AsyncSequence, Sendable {
    private let first: Cursor
    private let fetch: @Sendable (Cursor) async throws -> (elements: [Element], next: Cursor?)

    /// Creates a sequence.
    ///
    /// - Parameter fetch: Reads the page at a cursor and returns it with the next cursor, or with nil at the end.
    public init(
        from first: Cursor, fetch: @escaping @Sendable (Cursor) async throws -> (elements: [Element], next: Cursor?)
    ) {
        self.first = first
        self.fetch = fetch
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(cursor: first, fetch: fetch) }

    /// Reads the pages.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var cursor: Cursor?
        let fetch: @Sendable (Cursor) async throws -> (elements: [Element], next: Cursor?)
        private var page: [Element] = []
        private var index = 0

        init(
            cursor: Cursor, fetch: @escaping @Sendable (Cursor) async throws -> (elements: [Element], next: Cursor?)
        ) {
            self.cursor = cursor
            self.fetch = fetch
        }

        public mutating func next() async throws -> Element? {
            while index == page.count {
                guard let cursor else { return nil }
                (page, self.cursor) = try await fetch(cursor)
                index = 0
            }
            defer { index += 1 }
            return page[index]
        }
    }
}
