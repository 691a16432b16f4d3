import Backend
import Foundation
import NIOCore
import ObjectStore
import Testbed
import Testing

/// Objects that no row names go, once they are old enough.
@Suite struct SweepTests {
    @Test func whatNoRowNamesGoes() async throws {
        try await withTemporaryFolder { folder in
            let store = try LocalObjectStore(
                folder: folder, signingKey: Array(repeating: 7, count: 32), baseURL: "http://test/objects", now: { 0 })
            let names = (0..<40).map { "uploads/\($0).jpg" }
            for name in names {
                let file = try await store.spool()
                try await file.append(ByteBuffer(string: name))
                try await store.put(file, at: try #require(ObjectKey(name)), contentType: "image/jpeg")
            }
            func left() async throws -> Set<String> {
                var left: Set<String> = []
                for name in names {
                    if try await store.size(of: #require(ObjectKey(name))) != nil { left.insert(name) }
                }
                return left
            }
            try await store.sweep(olderThan: 0) { _ in [] }
            #expect(try await left() == Set(names))
            let known = Set(names.prefix(10))
            try await store.sweep(olderThan: .max) { keys in
                #expect(Set(keys).isSubset(of: names))
                return known
            }
            #expect(try await left() == known)
        }
    }
}
