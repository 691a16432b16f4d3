import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import Testbed
import Testing

/// Many pictures of one user do not delay those of others.
@Suite(.timeLimit(.minutes(30))) struct PictureShareTests {
    /// Returns a helper that waits until a file exists, and then runs the real helper.
    private func slowHelper(in folder: String) throws -> String {
        let path = folder + "/helper"
        let script = """
            #!/bin/sh
            PATH=/usr/bin:/bin
            while [ ! -e '\(folder)/gate' ]; do sleep 0.05; done
            exec '\(ConcordProcess.executable("thumbnail").path)' "$@"

            """
        try Data(script.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        return path
    }

    @Test(arguments: ["deuce-diary", "dunbar"])
    func aUserWithManyPicturesWaitsForTheirOwn(_ api: String) async throws {
        try await withTemporaryFolder { folder in
            let gate = URL(fileURLWithPath: folder + "/gate")
            try Data().write(to: gate)
            let port = try await reservePort()
            let server = try ConcordProcess(
                ["serve", api, "--data", folder + "/data", "--port", "\(api)=\(port)"],
                environment: ["CONCORD_THUMBNAIL": try slowHelper(in: folder)])
            try await server.waitUntilReady()
            let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
            let (john, jane) = (
                try await person("john", api, url, folder + "/data"),
                try await person("jane", api, url, folder + "/data")
            )
            #expect(try await john().isSuccess)
            try FileManager.default.removeItem(at: gate)
            // One picture is in work, four wait, and five are too many.
            try await withThrowingTaskGroup(of: RawAnswer.self) { group in
                for _ in 0..<10 { group.addTask { try await john() } }
                for _ in 0..<5 {
                    let refused = try #require(try await group.next())
                    #expect(refused.status == 429 && refused.headers[.retryAfter] != nil, "\(refused.text)")
                    #expect(refused.text.hasPrefix(#"{"message":"Too many requests"#))
                }
                async let another = jane()
                try Data().write(to: gate)
                #expect(try await another.isSuccess)
                for try await answer in group { #expect(answer.isSuccess, "\(answer.text)") }
            }
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    /// Repeats under one key take no place among the pictures of their user.
    @Test(arguments: ["deuce-diary", "dunbar"])
    func repeatsWaitForTheFirstPictureAlone(_ api: String) async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let server = try ConcordProcess(["serve", api, "--data", folder, "--port", "\(api)=\(port)"])
            try await server.waitUntilReady()
            let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
            for count in [8, 32] {
                let john = try await person("john\(count)", api, url, folder, key: "key")
                let answers = try await withThrowingTaskGroup(of: RawAnswer.self) { group in
                    for _ in 0..<count { group.addTask { try await john() } }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(answers.allSatisfy { $0.isSuccess }, "\(answers.map(\.status))")
                #expect(Set(answers.map(\.text)).count == 1)
            }
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    /// Returns a function that sends a picture of one user.
    ///
    /// - Parameter key: The idempotency key of all its requests; nil for none.
    private func person(
        _ name: String, _ api: String, _ url: URL, _ folder: String, key: String? = nil
    ) async throws -> @Sendable () async throws -> RawAnswer {
        let raw = RawClient(baseURL: url, transport: .patient)
        var headers: HTTPFields = [:]
        if api == "dunbar" {
            let body = #"{"username":"\#(name)","email":"\#(name)@example.com","password":"secret123","name":"N"}"#
            let answer = try await raw.send(
                .post, "/api/register", headers: [.contentType: "application/json"], body: body)
            headers[.cookie] = answer.headers[.setCookie]?.split(separator: ";").first.map(String.init)
            let (type, bytes) = PictureForm.make("media")
            headers[.contentType] = type
            headers[.idempotencyKey] = key
            return { [headers] in try await raw.send(.post, "/api/posts", headers: headers, bytes: bytes) }
        }
        let token = try await ConcordProcess.diaryToken(name, folder)
        let (type, bytes) = PictureForm.make("profilePicture")
        headers[.contentType] = type
        headers[.idempotencyKey] = key
        return { [headers] in
            try await raw.send(.post, "/api/auth/user/profile-picture", token: token, headers: headers, bytes: bytes)
        }
    }
}

extension RawAnswer {
    fileprivate var isSuccess: Bool { 200...299 ~= status }
}
