import Contract
import ContractClient
import HTTPTypes

/// The checks of an archive with all that a server keeps of a person, which are the same in every API.
public struct ArchiveChecks: Sendable {
    private let path: String
    private let isSnakeCase: Bool
    private let isWrapped: Bool
    private let accepted: Int

    /// - Parameters:
    ///   - path: The path of both operations.
    ///   - isSnakeCase: Whether the API's names are written like `expires_at`.
    ///   - isWrapped: Whether the API's answers have their values in `data`.
    ///   - accepted: The status of the answer to the request for an archive.
    public init(at path: String, isSnakeCase: Bool = false, isWrapped: Bool = false, accepted: Int = 202) {
        self.path = path
        self.isSnakeCase = isSnakeCase
        self.isWrapped = isWrapped
        self.accepted = accepted
    }

    private var missing: Problem { Problem(.notFound, "No archive was requested") }
    private var times: (requested: String, end: String) {
        isSnakeCase ? ("requested_at", "expires_at") : ("requestedAt", "expiresAt")
    }

    private func archive(_ answer: RawAnswer, _ status: Int) throws -> JSONValue {
        let body = try answer.succeeded(status)
        return isWrapped ? body["data"] ?? .null : body
    }

    /// Asks for an archive of a person who has none, and downloads it.
    ///
    /// - Parameter other: Another person, who has no archive either.
    public func check(_ person: some Requester, unlike other: some Requester) async throws {
        try await person.get(path).refused(missing)
        let asked = try archive(try await person.post(path), accepted)
        try expect(asked["state"], equals: "preparing")
        for name in ["size", "url", times.end] { try expect(asked[name], equals: .null) }
        let again = try archive(try await person.post(path), accepted)
        try expect(again[times.requested], equals: asked[times.requested])
        // It may wait for archives of others.
        for _ in 0..<20 where try archive(try await person.get(path), 200)["state"] != "ready" {
            try await Task.sleep(for: .milliseconds(500))
        }
        try await expectSoon("the archive is not ready") {
            try archive(try await person.get(path), 200)["state"] == "ready"
        }
        let ready = try archive(try await person.get(path), 200)
        try expect(ready[times.requested], equals: asked[times.requested])
        try expect(ready[times.end]?.string != nil, "a ready archive without its end")

        let url = ready["url"]?.string ?? ""
        let whole = try await person.fetch(url)
        try expect(whole.status, equals: 200)
        try expect(Int64(whole.body.count), equals: ready["size"]?.integer ?? 0)
        try expect(whole.body.starts(with: Array("PK\u{3}\u{4}".utf8)), "no ZIP file")
        let rest = try await person.fetch(url, headers: [.range: "bytes=\(whole.body.count - 22)-"])
        try expect(rest.status, equals: 206)
        try expect(rest.body == Array(whole.body.suffix(22)), "another part of the file")

        // Within the hour the same archive answers.
        let present = try archive(try await person.post(path), accepted)
        for name in ["state", "size", times.requested, times.end] { try expect(present[name], equals: ready[name]) }
        try expect(try await person.fetch(present["url"]?.string ?? "").status, equals: 200)
        try await other.get(path).refused(missing)
    }
}
