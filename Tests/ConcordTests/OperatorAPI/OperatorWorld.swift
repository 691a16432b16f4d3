import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerClient
import OperatorPage
import Testbed
import Testing

@testable import Backend

/// The API of the operator's page under test. Every answer is held to the examples.
struct OperatorWorld: APIWorld {
    typealias API = OperatorAPI

    static let password = "secret123"
    private static let shapes = WireShapes(OperatorExamples.all)

    let server: ValidatedServer
    let host: OperatorHost

    init(_ server: ContractCheck.Server, _ host: OperatorHost) {
        self.server = ValidatedServer(server, Self.shapes) { problem, _ in ["error": .string(problem.message)] }
        self.host = host
    }

    func signedIn() async throws -> RawClient { try await signedIn(.all) }

    /// Signs an operator in, and returns a client with the cookie of the session.
    func signedIn(_ role: OperatorRole, as name: String = "operator anna") async throws -> RawClient {
        let answer = try await raw(.post, "/sign-in", ["token": .string(host.link(role, for: name))])
        try answer.succeeded(200)
        let cookie = (answer.headers[.setCookie] ?? "").prefix { $0 != ";" }
        return raw.signed([.cookie: String(cookie)])
    }

    /// Returns a name that no one else has: scenarios share a server.
    func freshName(_ stem: String = "u") -> String { "\(stem)\(UInt32.random(in: 0 ..< .max))" }

    /// Registers a person in Messenger, who is signed in on a phone.
    func person(_ name: String? = nil) async throws -> OperatedPerson {
        let name = name ?? freshName()
        let client = MessengerClient(baseURL: host.messenger, transport: .patient, retry: .never)
        try await client.send(
            Messenger.Register(username: name, email: "\(name)@example.com", password: Self.password))
        let id = try await client.signIn(username: name, password: Self.password, deviceName: "Bob's iPhone")
        return OperatedPerson(id: id, name: name, client: client)
    }

    /// Lets one person report a message of another that has a picture.
    ///
    /// - Returns: The report's path.
    func report(of author: OperatedPerson, by reporter: OperatedPerson) async throws -> String {
        let chat = try await reporter.client.send(Messenger.CreateChat.direct(with: author.id)).id
        let picture = Upload(
            .bytes(SampleImage.jpeg(width: 8, height: 8)), filename: "a.jpg", contentType: "image/jpeg")
        let file = try await author.client.upload(picture).id
        let message = try await author.client.send(Messenger.SendMessage(chat: chat, content: "rude", file: file)).id
        try await reporter.client.send(
            Messenger.CreateReport(message: message, reason: "insults", details: "again"))
        let found = try await signedIn()(.get, "/reports?limit=1000").succeeded(200).elements
        guard let id = found.first(where: { $0["thing"]?.string == "\(message)" })?["id"]?.integer else {
            throw CheckFailure("the report is not in the list")
        }
        return "/reports/messenger/\(id)"
    }
}

/// A person of Messenger to whom operators do something.
struct OperatedPerson: Sendable {
    let id: Messenger.User.ID
    let name: String
    let client: MessengerClient

    /// The path of the person.
    var path: String { "/people/messenger/\(id)" }
    /// What every answer about the person begins with.
    var json: [String: JSONValue] { ["api": "messenger", "id": .string("\(id)"), "name": .string(name)] }

    func with(_ more: [String: JSONValue]) -> JSONValue { .object(json.merging(more) { $1 }) }

    /// Fails unless Messenger answers the person.
    func isIn() async throws { try await client.send(Messenger.ListChats()) }
}

extension JSONValue {
    /// The object without some members.
    func without(_ names: String...) -> JSONValue { .object(members.filter { !names.contains($0.key) }) }

    /// Fails unless the value is a time of the last minutes, or so many seconds ahead of them.
    func isTime(ahead seconds: Double = 0, line: UInt = #line) throws {
        let time = try #require(string.flatMap { Timestamp<Seconds>($0) }).date.timeIntervalSinceNow - seconds
        try ContractCheck.expect(-300...5 ~= time, "\(self) is not the time", line: line)
    }
}
