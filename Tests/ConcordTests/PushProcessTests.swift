import Backend
import Contract
import ContractClient
import Foundation
import MessengerCheck
import MessengerClient
import NIOSockets
import Testbed
import Testing

/// `concord serve --apns-key …` notifies devices.
@Suite(.timeLimit(.minutes(30))) struct PushProcessTests {
    private func arguments(_ key: String) -> [String] {
        [
            "--apns-key", key, "--apns-key-id", APNsStandIn.keyID, "--apns-team", APNsStandIn.team, "--apns-topic",
            APNsStandIn.topic,
        ]
    }

    @Test func aMessageReachesEachDeviceOnce() async throws {
        let clock = TestClock(milliseconds: TimeSource.system.milliseconds())
        try await APNsStandIn.run(by: clock) { service async throws in
            try await withTemporaryFolder { folder in
                let key = folder + "/key.p8"
                try APNsStandIn.pem.write(toFile: key, atomically: true, encoding: .utf8)
                let port = try await reservePort()
                let server = try await ConcordProcess.serving(
                    data: folder + "/data", port: port, more: arguments(key) + ["--apns-url", service.url])
                let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
                let world = MessengerWorld(
                    baseURL: url, transport: .patient, sockets: NIOSocketTransport())
                let (alice, bob, carol) = try await world.trio()
                let chat = try await alice.group(with: bob, carol)
                let devices = [Data([1, 0xAB]), Data([2, 0xCD])]
                for token in devices { try await bob.client.registerDevice(token: token, environment: .production) }
                try await carol.client.registerDevice(token: Data([3]), environment: .sandbox)
                let socket = try await carol.socket()
                try await socket.send(Messenger.Subscribe(chat: chat))
                _ = try await socket.receive()
                let secret = "a secret text"
                let sent = try await alice.send(Messenger.SendMessage(chat: chat, content: secret))
                #expect(try await socket.receive() == sent.message)
                _ = await service.taken(2)
                let again = try await alice.send(Messenger.SendMessage(chat: chat, content: secret))
                let taken = await service.taken(4)
                #expect(taken.map(\.token).sorted() == ["01ab", "01ab", "02cd", "02cd"])
                for (message, badge) in [(sent, 1), (again, 2)] {
                    let pushes = taken.filter { $0.payload["message_id"] == .integer(message.id.rawValue) }
                    #expect(pushes.count == 2)
                    #expect(pushes.allSatisfy { $0.display("badge") == .integer(Int64(badge)) })
                }
                await socket.close()
                server.signal(SIGTERM)
                #expect(await server.status() == 0)
                let log = await server.standardError()
                #expect(!log.contains(secret) && !log.contains("01ab") && !log.contains("PRIVATE KEY"))
            }
        }
    }

    @Test func settingsThatCannotBeUsedAreRefusedAtTheStart() async throws {
        try await withTemporaryFolder { folder in
            let (good, bad) = (folder + "/good.p8", folder + "/bad.p8")
            try APNsStandIn.pem.write(toFile: good, atomically: true, encoding: .utf8)
            try "no key".write(toFile: bad, atomically: true, encoding: .utf8)
            let cases: [([String], String)] = [
                (["--apns-key", good], "--apns-key needs --apns-key-id, --apns-team, --apns-topic"),
                (["--apns-topic", "com.example"], "--apns-topic needs --apns-key"),
                (arguments(bad), "--apns-key cannot be used"),
                (arguments(folder + "/none.p8"), "none.p8: there is no such file"),
                (arguments(good) + ["--apns-key-id", "short"], "the key's id must have 10 letters and digits"),
                (arguments(good) + ["--apns-url", "http://localhost"], "--apns-url must be https://host:port"),
                (arguments(good) + ["--apns-url", "https://localhost?ca=/none.pem"], "/none.pem cannot be read"),
            ]
            for (arguments, reason) in cases {
                let server = try ConcordProcess(
                    ["serve", "messenger", "--data", folder + "/data", "--port", "messenger=0"] + arguments)
                #expect(await server.status() != 0)
                let errors = await server.standardError()
                #expect(errors.contains(reason), "\(errors)")
                #expect(!errors.contains("PRIVATE KEY"))
            }
        }
    }
}
