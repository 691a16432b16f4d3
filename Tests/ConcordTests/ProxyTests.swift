import ContractClient
import Foundation
import MessengerClient
import NIOSockets
import Testbed
import Testing

/// The whole configurations of docs/proxies.md, run by the proxies themselves: over plain HTTP, on free ports.
@Suite(
    .enabled(if: Proxies.runner != nil, "`make test` unpacks the proxies and sets CONCORD_PROXIES"),
    .timeLimit(.minutes(30)))
struct ProxyTests {
    enum Kind: String, CaseIterable, Sendable {
        case nginx
        case caddy
        case haproxy

        /// The name of its block on the page.
        var language: String { self == .caddy ? "caddyfile" : rawValue }
    }

    private static let hosts = ["messenger", "diary", "monica", "gtsd", "dunbar"]
    private static let apis = ["messenger", "deuce-diary", "monica", "gtsd", "dunbar"]
    private static let documented = ["8080", "8081", "8082", "8083", "5000"]

    /// Returns the page's configuration with the ports of a test, without certificates, and the files that it needs.
    private func configuration(_ kind: Kind, port: Int, ports: [Int], _ folder: String) throws -> String {
        var text = try #require(try Proxies.blocks(of: "proxies.md")[kind.language])
        for (documented, port) in zip(Self.documented, ports) {
            text = text.replacingOccurrences(
                of: kind == .nginx ? "\(documented);" : "127.0.0.1:\(documented)",
                with: kind == .nginx ? "\(port);" : "127.0.0.1:\(port)")
        }
        // The SDK reaches Messenger by a name that resolves.
        text = text.replacingOccurrences(of: "messenger.example.com", with: "localhost")
        switch kind {
        case .nginx:
            text = text.replacingOccurrences(of: "listen 443 ssl;", with: "listen 127.0.0.1:\(port);")
                .replacing(#/ *ssl_certificate.*\n/#, with: "")
            return """
                daemon off; pid \(folder)/pid; error_log stderr; \(getuid() == 0 ? "user root;" : "")
                events {}
                http {
                    access_log off;
                    client_body_temp_path \(folder)/a; proxy_temp_path \(folder)/b; fastcgi_temp_path \(folder)/c;
                    uwsgi_temp_path \(folder)/d; scgi_temp_path \(folder)/e;
                \(text)
                }
                """
        case .caddy:
            text = text.replacing(#/(?m)^(\S+) \{/#) { "http://\($0.output.1):\(port) {" }
            return "{\n\tadmin off\n\tauto_https off\n}\n\(text)"
        case .haproxy:
            // The limit of descriptors may be low where the tests run.
            return text.replacing(#/bind :443.*/#, with: "bind 127.0.0.1:\(port)")
                .replacing("maxconn 20000", with: "maxconn 100")
        }
    }

    private func start(_ kind: Kind, _ file: String, _ folder: String) throws -> RunningProxy {
        let arguments =
            switch kind {
            case .nginx: ["nginx", "-p", folder, "-c", file]
            case .caddy: ["caddy", "run", "--adapter", "caddyfile", "--config", file]
            case .haproxy: ["haproxy", "-db", "-f", file]
            }
        return try RunningProxy(arguments, home: folder)
    }

    @Test(arguments: Kind.allCases)
    func everyAPIWorksAsWithoutIt(_ kind: Kind) async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            var ports: [Int] = []
            for _ in Self.apis { ports.append(try await reservePort()) }
            let file = "\(folder)/configuration"
            try configuration(kind, port: port, ports: ports, folder).write(
                toFile: file, atomically: true, encoding: .utf8)

            var options = ["serve", "--data", "\(folder)/data", "--trusted-proxy", "127.0.0.1"]
            for (api, port) in zip(Self.apis, ports) { options += ["--port", "\(api)=\(port)"] }
            let url = "http://localhost:\(port)"
            let server = try ConcordProcess(options + ["--public-url", "messenger=\(url)"])
            try await server.waitUntilReady()
            let proxy = try start(kind, file, folder)
            defer { proxy.end() }

            for host in Self.hosts {
                let name = host == "messenger" ? "localhost" : "\(host).example.com"
                try await proxy.waitUntilServing(name, port: port)
            }
            try await useMessenger(URL(string: url)!)
            try await isSeenWithItsAddress(port: port, server)
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    /// Two users sign in, a message reaches a socket, and a file of the largest size comes back.
    private func useMessenger(_ url: URL) async throws {
        let (alice, bob) = (
            MessengerClient(baseURL: url, transport: .patient), MessengerClient(baseURL: url, transport: .patient)
        )
        for (client, name) in [(alice, "alice"), (bob, "bob")] {
            try await client.send(
                Messenger.Register(username: name, email: "\(name)@example.com", password: "secret123"))
            try await client.signIn(username: name, password: "secret123")
        }
        let other = try #require(try await alice.send(Messenger.SearchUsers("bob")).first)
        let chat = try await alice.send(Messenger.CreateChat.direct(with: other.id))
        let socket = try await bob.openSocket(over: NIOSocketTransport())
        try await socket.send(Messenger.Subscribe(chat: chat.id))
        while try await !(socket.receive() is Messenger.Subscribed) {}
        try await alice.send(Messenger.SendMessage(chat: chat.id, content: "through the proxy"))
        while try await (socket.receive() as? Messenger.Message)?.content != "through the proxy" {}
        await socket.close()

        let bytes = [UInt8](repeating: 7, count: 50 * 1024 * 1024)
        let file = try await alice.upload(Upload(.bytes(bytes), filename: "large.bin"))
        #expect(try await alice.download(file.id) == bytes)
    }

    /// The log has the client's address, and not the proxy's, nor one that the client made up.
    private func isSeenWithItsAddress(port: Int, _ server: ConcordProcess) async throws {
        let id = "from-127-0-0-2"
        let answer = try await StockTools.run(
            "/usr/bin/curl",
            [
                "-sS", "--interface", "127.0.0.2", "-H", "X-Forwarded-For: 203.0.113.9", "-H", "X-Request-Id: \(id)",
                "http://localhost:\(port)/me",
            ])
        #expect(answer.status == 0, "\(answer.output)")
        try await server.waitForLog { log in
            log.split(separator: "\n").contains { $0.contains(id) && $0.contains("address=127.0.0.2") }
        }
    }
}

/// A proxy as a process of its own.
private final class RunningProxy: Sendable {
    private let process: Process
    private let ending: ProcessEnding
    private let output = Output()

    init(_ arguments: [String], home: String) throws {
        process = Process()
        process.executableURL = URL(fileURLWithPath: Proxies.runner ?? "/nonexistent")
        process.arguments = arguments
        process.environment = ["PATH": "/usr/bin:/bin", "HOME": home, "XDG_DATA_HOME": home, "XDG_CONFIG_HOME": home]
        process.standardOutput = output.end
        process.standardError = output.end
        ending = try ProcessEnding(running: process)
        output.begin()
    }

    deinit { end() }

    func end() { if process.isRunning { kill(process.processIdentifier, SIGTERM) } }

    struct Ended: Error { let output: String }

    /// Waits until the proxy passes a request of a host on to a server that is ready.
    func waitUntilServing(_ host: String, port: Int) async throws {
        while true {
            guard process.isRunning else { throw Ended(output: output.text) }
            let answer = try await StockTools.run(
                "/usr/bin/curl",
                [
                    "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Host: \(host)",
                    "http://127.0.0.1:\(port)/ready",
                ])
            if answer.output == "200" { return }
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}
