import Contract
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import Testing

@testable import ContractClient

/// Lists are read a page at a time.
@Suite(.timeLimit(.minutes(30))) struct PagesTests {
    struct Broken: Error {}

    /// Returns pages by their numbers, and records which were fetched.
    private func pages(
        _ all: [[Int]], _ fetched: NIOLockedValueBox<[Int]> = .init([])
    ) -> Pages<Int, Int> {
        Pages(from: 0) { cursor in
            fetched.withLockedValue { $0.append(cursor) }
            guard all.indices.contains(cursor) else { throw Broken() }
            return (all[cursor], cursor + 1 < all.count ? cursor + 1 : nil)
        }
    }

    private func elements(_ pages: Pages<Int, Int>) async throws -> [Int] {
        var elements: [Int] = []
        for try await element in pages { elements.append(element) }
        return elements
    }

    private static let lists: [[[Int]]] = [[[]], [[1]], [[1, 2], [3]], [[], [], [1], [], [2, 3], []], [[1], []]]

    @Test(arguments: lists)
    func everyElementInOrder(_ all: [[Int]]) async throws {
        let pages = pages(all)
        #expect(try await elements(pages) == all.flatMap(\.self))
        // Each loop starts at the first page.
        #expect(try await elements(pages) == all.flatMap(\.self))
    }

    @Test func pagesAreFetchedAsTheyAreNeeded() async throws {
        let fetched = NIOLockedValueBox<[Int]>([])
        var iterator = pages([[1, 2], [3], [4]], fetched).makeAsyncIterator()
        #expect(fetched.withLockedValue { $0 } == [])
        #expect(try await iterator.next() == 1)
        #expect(try await iterator.next() == 2)
        #expect(fetched.withLockedValue { $0 } == [0])
        #expect(try await iterator.next() == 3)
        #expect(fetched.withLockedValue { $0 } == [0, 1])
        #expect(try await iterator.next() == 4)
        #expect(try await iterator.next() == nil)
        #expect(try await iterator.next() == nil)
        #expect(fetched.withLockedValue { $0 } == [0, 1, 2])
    }

    @Test func aFailureIsThrownWhereItHappens() async throws {
        let broken = Pages<Int, Int>(from: 0) { cursor in
            guard cursor < 1 else { throw Broken() }
            return ([1, 2], cursor + 1)
        }
        var seen: [Int] = []
        await #expect(throws: Broken.self) {
            for try await element in broken { seen.append(element) }
        }
        #expect(seen == [1, 2])
    }
}
