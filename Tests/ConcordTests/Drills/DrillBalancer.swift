import Foundation
import Testbed

/// HAProxy in front of the nodes of a drill, with the checks and time-outs of docs/growing.md.
enum DrillBalancer {
    /// Runs a closure with the URL by which clients reach the nodes.
    static func serving(_ nodes: [DrillNode], _ body: (URL) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            var text = try Proxies.blocks(of: "growing.md")["haproxy"] ?? ""
            text = text.replacing(#/bind :443.*/#, with: "bind 127.0.0.1:\(port)")
                .replacing("maxconn 20000", with: "maxconn 200")
            for (index, node) in nodes.enumerated() {
                text = text.replacing("10.0.0.\(index + 1):8080", with: "127.0.0.1:\(node.url.port ?? 0)")
            }
            let file = folder + "/haproxy.cfg"
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            let url = URL(string: "http://127.0.0.1:\(port)")!
            // It says nothing when it is ready, and in its debugging mode each connection.
            let server = ForeignServer((TestServers.haProxy ?? []) + ["-db", "-f", file], readyAfter: "")
            try await server.start()
            let result: Result<Void, any Error>
            do {
                while try await !isServing(url) { try await Task.sleep(for: .milliseconds(50)) }
                result = .success(try await body(url))
            } catch {
                result = .failure(error)
            }
            await server.kill()
            try result.get()
        }
    }

    private static func isServing(_ url: URL) async throws -> Bool {
        let arguments = ["-s", "-o", "/dev/null", "-w", "%{http_code}", "\(url)/ready"]
        return try await StockTools.run("/usr/bin/curl", arguments).output == "200"
    }
}
