import AsyncHTTPClient
import Contract
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle

/// Ways in which a server can answer oddly.
enum Spoiling: String, CaseIterable, Sendable {
    /// Every text is another one, so tokens, links and times cannot be taken apart.
    case opaqueTexts
    case emptyLists
    case shortLists
    case numbersAsTexts
    case largestNumbers
    case smallestNumbers
    case negativeNumbers
    case zeroes
    /// Numbers up to which a `Double` has every integer.
    case exactNumbers
    /// Times at both ends of the calendar.
    case extremeTimes
    case nulls
    case emptyObjects
    case lists
    case cutBodies
    case slow
    case huge
    case otherType
    case alwaysOK

    private var isAboutJSON: Bool {
        switch self {
        case .cutBodies, .slow, .huge, .otherType, .alwaysOK: false
        default: true
        }
    }

    /// What takes the place of each number; nil for the ways that leave numbers alone.
    private var number: (integer: Int64, fraction: Double)? {
        switch self {
        case .largestNumbers: (.max, 1e308)
        case .smallestNumbers: (.min, -1e308)
        case .negativeNumbers: (-1, -0.5)
        case .zeroes: (0, 0)
        case .exactNumbers: (1 << 53, 9_007_199_254_740_992)
        default: nil
        }
    }

    func spoil(_ response: inout SpoilingServer.Answer) async {
        if let number {
            for field in response.headers where Int(field.value) != nil {
                response.headers[field.name] = "\(number.integer)"
            }
        }
        if isAboutJSON {
            guard let json = try? JSONDecoder().decode(JSONValue.self, from: Data(response.body)),
                let body = try? JSONEncoder().encode(spoiled(json))
            else { return }
            response.body = Array(body)
            return
        }
        switch self {
        case .slow: try? await Task.sleep(for: .milliseconds(50))
        case .huge: response.body += Array(repeating: UInt8(ascii: " "), count: 256 << 10)
        case .otherType: response.headers[.contentType] = "text/html"
        case .alwaysOK: response.status = .ok
        default: break
        }
    }

    private func spoiled(_ value: JSONValue) -> JSONValue {
        switch (value, self) {
        case (_, .emptyObjects): [:]
        case (_, .lists): .list([value])
        case (.string, .opaqueTexts): "x"
        case (.string, .nulls), (.integer, .nulls), (.bool, .nulls), (.number, .nulls): .null
        case (.integer(let number), .numbersAsTexts): .string("\(number)")
        case (.number(let number), .numbersAsTexts): .string("\(number)")
        case (.integer, _) where number != nil: .integer(number?.integer ?? 0)
        case (.number, _) where number != nil: .number(number?.fraction ?? 0)
        case (.string(let text), .extremeTimes): .string(Self.extreme(text))
        case (.list, .emptyLists): []
        case (.list(let elements), .shortLists): .list(elements.prefix(1).map(spoiled))
        case (.list(let elements), _): .list(elements.map(spoiled))
        case (.object(let members), _): .object(members.mapValues(spoiled))
        default: value
        }
    }
}

extension Spoiling {
    /// Returns a time or day at an end of the calendar for another one, and any other text as it is.
    private static func extreme(_ text: String) -> String {
        guard text.utf8.count >= 10, text.dropFirst(4).first == "-", Int(text.prefix(4)) != nil,
            text.dropFirst(7).first == "-"
        else { return text }
        return (text.utf8.reduce(0) { $0 ^ $1 } & 1 == 0 ? "0001-01-01" : "9999-12-31") + text.dropFirst(10)
    }
}

/// A server that hands requests for `/SPOILING/API/…` over to the API's real server, and spoils what that answers.
struct SpoilingServer {
    struct Answer {
        var status: HTTPResponse.Status
        var headers: HTTPFields
        var body: [UInt8]
    }

    /// Sends a request to a real server.
    private static func forward(_ request: Request, to url: URL) async throws -> Answer {
        var forwarded = HTTPClientRequest(url: url.absoluteString)
        forwarded.method = .init(rawValue: request.method.rawValue)
        for field in request.headers where field.name != .contentLength && field.name != .transferEncoding {
            forwarded.headers.add(name: field.name.rawName, value: field.value)
        }
        let body = try await request.body.collect(upTo: 1 << 20)
        if body.readableBytes > 0 { forwarded.body = .bytes(body) }
        let response = try await HTTPClient.shared.execute(forwarded, timeout: .minutes(5))
        var headers = HTTPFields()
        for (name, value) in response.headers {
            if let name = HTTPField.Name(name), name != .contentLength {
                headers.append(.init(name: name, value: value))
            }
        }
        let bytes = try await response.body.collect(upTo: 64 << 20)
        return Answer(
            status: .init(code: Int(response.status.code)), headers: headers, body: Array(bytes.readableBytesView))
    }

    /// Runs a closure while the server runs.
    ///
    /// - Parameter apis: The base URLs of the real servers, by the names of their APIs.
    static func run(_ apis: [String: URL], _ body: (_ port: Int) async throws -> Void) async throws {
        let responder = CallbackResponder<BasicRequestContext> { request, _ in
            let steps = request.uri.path.split(separator: "/", maxSplits: 2)
            guard steps.count == 3, let spoiling = Spoiling(rawValue: String(steps[0])),
                let base = apis[String(steps[1])],
                let url = URL(string: "\(base)/\(steps[2])" + (request.uri.query.map { "?\($0)" } ?? ""))
            else { return Response(status: .notFound) }
            var response = try await forward(request, to: url)
            await spoiling.spoil(&response)
            return Response(response, isCut: spoiling == .cutBodies)
        }
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let app = Application(
            responder: responder, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { port.yield($0.localAddress?.port ?? 0) }, logger: logger)
        let group = ServiceGroup(configuration: .init(services: [.init(service: app)], logger: logger))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            var iterator = ports.makeAsyncIterator()
            let running = await iterator.next() ?? 0
            do {
                try await body(running)
            } catch {
                await group.triggerGracefulShutdown()
                throw error
            }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }
}

extension Response {
    private struct Cut: Error {}

    /// - Parameter isCut: Whether the connection ends in the middle of the body.
    fileprivate init(_ response: SpoilingServer.Answer, isCut: Bool) {
        var headers = response.headers
        headers[.contentLength] = nil
        let (buffer, count) = (ByteBuffer(bytes: response.body), response.body.count)
        let body: ResponseBody =
            isCut && count > 0
            ? .init(contentLength: count) { writer in
                try await writer.write(ByteBuffer(bytes: response.body.prefix(count / 2)))
                throw Cut()
            } : .init(byteBuffer: buffer)
        self.init(status: response.status, headers: headers, body: body)
    }
}
