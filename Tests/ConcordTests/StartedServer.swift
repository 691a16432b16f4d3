import ContractClient
import Foundation
import MessengerClient
import Testbed
import Testing

/// Starts and stops `concord serve messenger` on a data folder, and inspects its files.
struct StartedServer {
    /// Runs a server until it has some files, and stops it.
    func fill(_ folder: String, files: Int = 10, more: [String] = [], _ environment: [String: String] = [:])
        async throws -> [Messenger.File.ID]
    {
        let port = try await reservePort()
        let process = try await ConcordProcess.serving(data: folder, port: port, more: more, environment: environment)
        let client = client(at: port)
        try await client.send(
            Messenger.Register(username: "alice", email: "alice@example.com", password: "secret123"))
        try await client.signIn(username: "alice", password: "secret123")
        var ids: [Messenger.File.ID] = []
        for index in 0..<files {
            ids.append(try await client.upload(Upload(.bytes([UInt8(index)]), filename: "\(index).txt")).id)
        }
        try await stop(process)
        return ids
    }

    func client(at port: Int) -> MessengerClient {
        MessengerClient(baseURL: URL(string: "http://127.0.0.1:\(port)")!, transport: .patient, retry: .never)
    }

    func stop(_ process: ConcordProcess) async throws {
        process.signal(SIGTERM)
        #expect(await process.status() == 0)
    }

    /// Checks that a start is refused, and returns what it wrote to standard error.
    func refused(
        _ folder: String, more: [String] = [], _ environment: [String: String] = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let process = try ConcordProcess(
            ["serve", "messenger", "--data", folder, "--port", "messenger=0"] + more, environment: environment)
        #expect(await process.status() == 1, sourceLocation: sourceLocation)
        #expect(process.standardOutput == "", sourceLocation: sourceLocation)
        return await process.standardError()
    }

    /// Checks that a start succeeds and that all files are served.
    func serves(
        _ ids: [Messenger.File.ID], _ folder: String, more: [String] = [], _ environment: [String: String] = [:]
    ) async throws {
        let port = try await reservePort()
        let process = try await ConcordProcess.serving(data: folder, port: port, more: more, environment: environment)
        let client = client(at: port)
        try await client.signIn(username: "alice", password: "secret123")
        for (index, id) in ids.enumerated() { #expect(try await client.download(id) == [UInt8(index)]) }
        try await stop(process)
    }

    /// Returns the names of the stored files.
    func objects(_ folder: String) -> Set<String> {
        let root = folder + "/files/messenger/objects"
        let names = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
        return Set(names.filter { $0.hasSuffix(".txt") })
    }

    /// Sets the times of the files so that a sweep does not spare them as new.
    func age(_ folder: String) throws {
        for name in objects(folder) {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -7200)],
                ofItemAtPath: "\(folder)/files/messenger/objects/\(name)")
        }
    }
}
