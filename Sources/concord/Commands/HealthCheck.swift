import ArgumentParser
import Backend
import ContractClient
import Foundation

/// `concord health URL …`: whether servers are ready, for health checks of containers and for scripts.
struct HealthCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health", abstract: "Ask running servers whether they are ready.",
        discussion: """
            Asks each URL for /ready, and prints a line for each: 'ready', or what is missing. Exits with 0 when all \
            are ready and with 1 when one is not, or does not answer in time.
            """)

    @Argument(help: "Base URLs, such as http://127.0.0.1:8080.", transform: HealthCheck.url)
    var urls: [URL]

    @Option(help: ArgumentHelp("How long each server may take to answer, in seconds.", valueName: "seconds"))
    var timeout = 5.0

    @OptionGroup var listing: ListOptions

    /// A server's answer.
    private struct Answer: Encodable {
        let url: String
        let ready: Bool
        let state: String
    }

    func validate() throws {
        guard 0.1...600 ~= timeout else { throw ValidationError("--timeout is 0.1 to 600 seconds") }
    }

    func run() async throws {
        let answers = await withTaskGroup(of: (Int, Answer).self) { group in
            for (index, url) in urls.enumerated() {
                group.addTask {
                    let (state, isReady) = await state(of: url)
                    return (index, Answer(url: url.absoluteString, ready: isReady, state: state))
                }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
        for answer in answers {
            print(try listing.json ? JSONLine.encode(answer) : "\(answer.url)  \(answer.state)")
        }
        if !answers.allSatisfy(\.ready) { throw ExitCode(1) }
    }

    private func state(of url: URL) async -> (String, isReady: Bool) {
        let request = TransportRequest(method: .get, url: url.appendingPathComponent("ready"))
        let transport = URLSessionTransport()
        let answer = await withTaskGroup(of: Result<TransportResponse, any Error>?.self) { group in
            group.addTask {
                do { return .success(try await transport.send(request, progress: nil)) } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                try? await Task.sleep(for: .seconds(timeout))
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        switch answer {
        case nil: return ("no answer within \(timeout.formatted()) s", false)
        case .failure(let error): return ("no answer: \((error as? URLError)?.words ?? "\(error)")", false)
        case .success(let answer) where answer.status == .ok: return ("ready", true)
        case .success(let answer):
            let body = String(decoding: answer.body.prefix(500), as: UTF8.self)
            return ("\(answer.status.code) \(body.split(whereSeparator: \.isNewline).joined(separator: " "))", false)
        }
    }

    static func url(_ text: String) throws -> URL {
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased() ?? ""),
            url.host?.isEmpty == false
        else { throw ValidationError("'\(text)' is no URL: http://host:port or https://host") }
        return url
    }
}

extension URLError {
    fileprivate var words: String {
        switch code {
        case .cannotConnectToHost: "nothing listens there"
        case .cannotFindHost: "there is no such host"
        case .networkConnectionLost: "the connection was closed"
        case .timedOut: "it took too long"
        case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate:
            "its certificate is not trusted"
        // On Linux these have no code, only curl's words.
        case _ where "\(self)".contains("SSL certificate problem"): "its certificate is not trusted"
        case _ where "\(self)".contains("wrong version number"): "it does not speak TLS: http://… may reach it"
        default: localizedDescription
        }
    }
}
