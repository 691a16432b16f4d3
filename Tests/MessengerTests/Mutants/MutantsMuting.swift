import Contract
import ContractClient
import Foundation
import HTTPTypes
import Testbed

/// Mutants of muted chats.
extension Mutant {
    private static let mute = "POST /chats/{id}/mute"
    private static let unmute = "DELETE /chats/{id}/mute"
    private static let list = "GET /chats"

    static let muting: [Mutant] = [
        .status("answers 200", mute, of: mute, 204, 200),
        .status("answers 200 to the end of it", mute, of: unmute, 204, 200),
        .exchange("does not mute", mute, mute) { request, forward in
            request.headers[.authorization] == nil ? try await forward(request) : TransportResponse(status: .noContent)
        },
        .exchange("stays muted", mute, unmute) { request, forward in
            request.headers[.authorization] == nil ? try await forward(request) : TransportResponse(status: .noContent)
        },
        .request("forgets when it ends", mute, of: mute) { $0.json["until"] = nil },
        .body("shows no end", mute, of: list, #""mute":\{"until":"[^"]*"\}"#, #""mute":{"until":null}"#),
        .body("shows an end always", mute, of: list, #""until":null"#, #""until":"2999-01-01T08:00:00Z""#),
        .body("shows every chat as muted", mute, of: list, #""mute":null"#, #""mute":{"until":null}"#),
        .request("tells always", mute, of: list) { $0.setQuery("include", "unread,muted") },
        .refusal("words it otherwise", mute, "until must be a time in the future", "Invalid until"),
        .lenient("takes any end", mute, of: mute, to: "until must be a time in the future") { $0.json["until"] = nil },
        .leaking("lets strangers mute", mute, mute, [403]),
        .leaking("lets strangers unmute", mute, unmute, [403]),
    ]
}
