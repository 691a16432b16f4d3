import Contract
import ContractClient
import Foundation
import HTTPTypes

/// A failure as shell commands with `curl` and, for sockets, PyPI's `websockets`: the requests that led to it, with the
/// answers as comments.
struct Reproduction {
    let lines: [String]

    /// The number of requests that are shown when it is not known which one failed.
    private static let most = 3
    private static let longestAnswer = 500
    private static let mostFrames = 20

    /// - Parameters:
    ///   - culprit: The exchange that failed, where it is known.
    ///   - given: The tokens that the run was given.
    init(
        _ culprit: Exchange?, exchanges: [(exchange: Exchange, begun: Int)], sockets: [Recording.Conversation],
        given: [String]
    ) {
        let tokens = Tokens(exchanges.map(\.exchange), given: given)
        let lastRequest = exchanges.last?.begun ?? 0
        var requests: [Exchange] = []
        var conversations: [Recording.Conversation] = []
        if let culprit {
            requests = [culprit]
        } else {
            let shown = exchanges.suffix(Self.most)
            requests = shown.map(\.exchange)
            // Only sockets that were in use at the end are shown; requests from before they were opened do not matter.
            conversations = sockets.filter { $0.touched >= lastRequest }.suffix(Self.most)
            if let socket = conversations.last, let index = sockets.firstIndex(where: { $0.touched == socket.touched })
            {
                let begun = sockets[index].opened
                requests = shown.filter { $0.begun > begun }.map(\.exchange)
            }
        }

        var commands: [String] = []
        let isLive = !conversations.isEmpty && !requests.isEmpty
        for conversation in conversations {
            commands.append(Self.command(for: conversation, tokens, inBackground: isLive))
            commands += Self.comments(on: conversation)
        }
        // This gives Python the time to start, connect and send.
        if isLive { commands.append("sleep 3") }
        for exchange in requests {
            commands.append(Shell.curl(exchange.request, options: "-sSi", tokens.variables))
            commands.append(Self.comment(on: exchange))
        }
        if isLive { commands.append("wait") }
        lines = tokens.commands(for: commands) + commands
    }

    private static func comment(on exchange: Exchange) -> String {
        guard let response = exchange.response else { return "# no answer" }
        let text = String(decoding: response.body.prefix(4 * longestAnswer), as: UTF8.self)
        return "# \(response.status.code) \(line(text))"
    }

    private static func command(
        for conversation: Recording.Conversation, _ tokens: Tokens, inBackground: Bool
    ) -> String {
        let frames = conversation.lines.compactMap { line -> String? in
            if case .sent(let text) = line { Shell.word(text, tokens.variables) } else { nil }
        }
        let url = conversation.url.absoluteString.replacing(#/^http/#, with: "ws")
        let sending = frames.isEmpty ? "" : "printf '%s\\n' \(frames.joined(separator: " ")); "
        return "{ \(sending)sleep \(inBackground ? 8 : 2); } | python3 -m websockets \(Shell.word(url))"
            + (inBackground ? " &" : "")
    }

    private static func comments(on conversation: Recording.Conversation) -> [String] {
        let received = conversation.lines.compactMap { line -> String? in
            switch line {
            case .sent: nil
            case .received(let text): "# < \(Self.line(text))"
            case .closed(let code): "# closed with \(code)"
            }
        }
        let left = received.count - mostFrames
        return (left > 0 ? ["# < \(left) frames before these"] : []) + received.suffix(mostFrames)
    }

    /// Returns the text on one line, shortened if it is long.
    private static func line(_ text: String) -> String {
        let cut = text.count > longestAnswer ? "\(text.prefix(longestAnswer))…" : text
        return cut.replacing(#/[\r\n]+/#, with: " ")
    }
}

/// The secrets that the run was given, and those in the recorded answers. Commands get new ones of these, because those of
/// the run have expired.
private struct Tokens {
    let variables: [Shell.Variable]
    /// Where the values came from, in the order of the variables: nil for a given one, otherwise the answer and its key.
    private let sources: [(exchange: Exchange, key: String)?]

    init(_ exchanges: [Exchange], given: [String]) {
        var variables = given.enumerated().map { Shell.Variable(name: "TOKEN_\($0 + 1)", value: $1) }
        var sources: [(exchange: Exchange, key: String)?] = given.map { _ in nil }
        for exchange in exchanges {
            guard let body = exchange.response?.body, body.count < 65_536,
                case .object(let members)? = try? JSONDecoder().decode(JSONValue.self, from: Data(body))
            else { continue }
            for (key, value) in members.sorted(by: { $0.key < $1.key }) {
                guard key.hasSuffix("token"), case .string(let text) = value, text.utf8.count >= 16,
                    !variables.contains(where: { $0.value == text })
                else { continue }
                variables.append(.init(name: "TOKEN_\(variables.count + 1)", value: text))
                sources.append((exchange, key))
            }
        }
        (self.variables, self.sources) = (variables, sources)
    }

    /// Returns commands that set the variables which the given commands use, and those that these commands use
    /// themselves.
    func commands(for others: [String]) -> [String] {
        var commands: [String] = []
        for index in variables.indices.reversed() {
            let isUsed = (commands + others).contains { $0.contains("\"$\(variables[index].name)\"") }
            guard isUsed else { continue }
            let name = variables[index].name
            guard let (exchange, key) = sources[index] else {
                // The shell ends with these words when its user has not set the variable.
                commands.insert(#": "${\#(name):?must be number \#(index + 1) of the --token}""#, at: 0)
                continue
            }
            // An answer can only depend on earlier ones.
            let request = Shell.curl(exchange.request, options: "-sS", Array(variables[..<index]))
            commands.insert(#"\#(name)=$(\#(request) | sed -n 's/.*"\#(key)" *: *"\([^"]*\)".*/\1/p')"#, at: 0)
        }
        return commands
    }
}
