import Contract
import ContractClient
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import Testbed

extension Mutant {
    private static let handshake = "/ws handshake"
    private static let subscribe = "/ws subscribe"
    private static let messages = "/ws messages"
    private static let keepalive = "/ws keepalive"
    private static let errorFrames = "/ws errors"
    private static let since = "/ws since"

    static let handshakes: [Mutant] = [
        .frame("tells more on success", handshake, "auth_ok", #"\}$"#, #","session":"x"}"#),
        .frame("leaves out the user", handshake, "auth_ok", #","user_id":\d+"#, ""),
        .frame("writes the user as text", handshake, "auth_ok", #""user_id":(\d+)"#, #""user_id":"$1""#),
        .socket("answers pings before", handshake) {
            let isSignedIn = NIOLockedValueBox(false)
            return SocketDefect(sent: { frame in
                if frame.contains(#""auth""#) { isSignedIn.withLockedValue { $0 = true } }
                return isSignedIn.withLockedValue { $0 } || !frame.contains(#""ping""#)
                    ? ([frame], []) : ([], [#"{"type":"pong"}"#])
            })
        },
        .closing("closes with 1000", 1008, 1000),
        .closing("closes with 4003", 1008, 4003),
        .closing("closes a session's sockets with 1000", 4001, 1000),
        .frames("does not say why it closes", handshake, "error") { _ in [] },
        .frame("words it otherwise", handshake, "error", "Not authenticated", "Unauthenticated"),
        .frame("does not tell bad JSON apart", handshake, "error", "Invalid JSON", "Not authenticated"),
        .frame("has the text under error", handshake, "error", #""message":"#, #""error":"#),
        .sent("takes a token with its scheme", handshake) { [$0.replacingOccurrences(of: "Bearer ", with: "")] },
        .acquainted("takes a refresh token") { frame, people in
            for signIn in people.signIns where frame.contains(signIn.refreshToken) {
                return [frame.replacingOccurrences(of: signIn.refreshToken, with: signIn.accessToken)]
            }
            return [frame]
        },
        .acquainted("compares the beginning of a token") { frame, people in
            for signIn in people.signIns where frame.contains("\(signIn.accessToken)x") {
                return [frame.replacingOccurrences(of: "\(signIn.accessToken)x", with: signIn.accessToken)]
            }
            return [frame]
        },
        .signingInAgain("takes another user's token", "taken") { isAnother in
            isAnother ? ([], true) : nil
        },
        .signingInAgain("refuses to sign in again", "refused") { isAnother in isAnother ? nil : ([], false) },
        .frames("says nothing to who stays silent", handshake, "error") {
            $0.contains("Authentication timeout") ? [] : [$0]
        },
        .socket("keeps a session's sockets open", handshake, isSilent: true) {
            SocketDefect(closed: { $0.code == 4001 ? nil : $0 })
        },
        .socket("keeps refused sockets open", handshake, isSilent: true) {
            SocketDefect(closed: { $0.code == 1008 ? nil : $0 })
        },
    ]

    static let subscriptions: [Mutant] = [
        .frame("leaves out the chat", subscribe, "subscribed", #","chat_id":\d+"#, ""),
        .frame("writes the chat as text", subscribe, "subscribed", #""chat_id":(\d+)"#, #""chat_id":"$1""#),
        .frame("does not tell a bad id apart", subscribe, "error", "Invalid chat_id", "Not a member of this chat"),
        .frame("tells that a chat exists", subscribe, "error", "Not a member of this chat", "Chat not found"),
        .sent("takes an id as text", subscribe) { frame in
            [frame.replacingOccurrences(of: #""chat_id":"(\d+)""#, with: #""chat_id":$1"#, options: .regularExpression)]
        },
        .sent("takes any since", subscribe) { frame in
            let isBad = frame.range(of: #""since":(-|"|true|0\.5)"#, options: .regularExpression) != nil
            return isBad ? [#"{"type":"ping"}"#] : [frame]
        },
        .socket("doubles with each subscription", subscribe) {
            let counts = NIOLockedValueBox<[Int64: Int]>([:])
            return SocketDefect(received: { frame in
                let chat = frame[integer: "chat_id"]
                if frame.hasPrefix(#"{"type":"subscribed""#) { counts.withLockedValue { $0[chat, default: 0] += 1 } }
                guard frame.hasPrefix(#"{"type":"message""#) else { return [frame] }
                return Array(repeating: frame, count: max(1, counts.withLockedValue { $0[chat] ?? 1 }))
            })
        },
        .socket("answers a repeated subscription with nothing", subscribe, isSilent: true) {
            let known = NIOLockedValueBox<Set<Int64>>([])
            return SocketDefect(received: { frame in
                guard frame.hasPrefix(#"{"type":"subscribed""#) else { return [frame] }
                return known.withLockedValue { $0.insert(frame[integer: "chat_id"]).inserted } ? [frame] : []
            })
        },
        .socket("does not unsubscribe", subscribe) {
            SocketDefect(sent: { frame in
                frame.contains(#""unsubscribe""#)
                    ? ([], [#"{"type":"unsubscribed","chat_id":\#(frame[integer: "chat_id"])}"#]) : ([frame], [])
            })
        },
        .socket("unsubscribes from all chats", subscribe, isSilent: true) {
            let chats = NIOLockedValueBox<Set<Int64>>([])
            return SocketDefect(
                sent: { frame in
                    let chat = frame[integer: "chat_id"]
                    if frame.contains(#""subscribe""#) { chats.withLockedValue { _ = $0.insert(chat) } }
                    guard frame.contains(#""unsubscribe""#) else { return ([frame], []) }
                    let all = chats.withLockedValue { $0 }.sorted { ($0 == chat ? 0 : $0) < ($1 == chat ? 0 : $1) }
                    return (all.map { #"{"type":"unsubscribe","chat_id":\#($0)}"# }, [])
                },
                received: { frame in
                    let isOther =
                        frame.hasPrefix(#"{"type":"unsubscribed""#)
                        && frame[integer: "chat_id"] != chats.withLockedValue { $0.min() }
                    return isOther ? [] : [frame]
                })
        },
        .frames("does not confirm an end", subscribe, isSilent: true, "unsubscribed") { _ in [] },
        .socket("subscribes to the user's other chats too", subscribe) {
            // The client receives the first of four answers.
            let waiting = NIOLockedValueBox(0)
            return SocketDefect(
                sent: { frame in
                    guard frame.contains(#""subscribe""#), case .integer(let chat)? = frame[member: "chat_id"],
                        chat < 100
                    else { return ([frame], []) }
                    waiting.withLockedValue { $0 += 4 }
                    let others = (1...3).map { #"{"type":"subscribe","chat_id":\#(chat + Int64($0))}"# }
                    return ([frame] + others, [])
                },
                received: { frame in
                    guard !frame.hasPrefix(#"{"type":"message""#) else { return [frame] }
                    return waiting.withLockedValue { waiting in
                        guard waiting > 0 else { return [frame] }
                        waiting -= 1
                        return waiting % 4 == 3 ? [frame] : []
                    }
                })
        },
    ]

    static let pushes: [Mutant] = [
        .frames("pushes twice", messages, "message") { [$0, $0] },
        .frames("pushes nothing", messages, isSilent: true, "message") { _ in [] },
        .socket("drops every third", messages, isSilent: true) {
            let count = NIOLockedValueBox(0)
            return SocketDefect(received: { frame in
                guard frame.hasPrefix(#"{"type":"message""#) else { return [frame] }
                let number = count.withLockedValue { count in
                    count += 1
                    return count
                }
                return number.isMultiple(of: 3) ? [] : [frame]
            })
        },
        .socket("swaps neighbours", messages) {
            let held = NIOLockedValueBox<(count: Int, frame: String?)>((0, nil))
            return SocketDefect(received: { frame in
                guard frame.hasPrefix(#"{"type":"message""#) else { return [frame] }
                return held.withLockedValue { held in
                    held.count += 1
                    if held.count == 20 {
                        held.frame = frame
                        return []
                    }
                    defer { held.frame = nil }
                    return [frame] + (held.frame.map { [$0] } ?? [])
                }
            })
        },
        .socket("pushes after the next answer", messages, isSilent: true) {
            let held = NIOLockedValueBox<[String]>([])
            return SocketDefect(received: { frame in
                held.withLockedValue { held in
                    guard !frame.hasPrefix(#"{"type":"message""#) else {
                        held.append(frame)
                        return []
                    }
                    defer { held = [] }
                    return [frame] + held
                }
            })
        },
        .socket("pushes binary", messages) { SocketDefect(isBinary: true) },
        .frame("answers kind", messages, "message", #""message_type":"#, #""kind":"#),
        .frame("leaves out the kind", messages, "message", #","message_type":"[a-z]*""#, ""),
        .frame("leaves out a file that is null", messages, "message", #","file_id":null"#, ""),
        .frame("writes times with a fraction", messages, "message", #"(\d\d)Z""#, #"$1.000Z""#),
        .frame("writes ids as text", messages, "message", #""id":(\d+)"#, #""id":"$1""#),
        .frame("cuts content", messages, "message", #""content":"[^"]*""#, #""content":"""#),
        .frame(
            "has the message in an envelope", messages, "message", #"\{"type":"message",(.*)\}$"#,
            #"{"type":"message","message":{$1}}"#),
        .frame("has another sender", messages, "message", #""sender_id":\d+"#, #""sender_id":99999"#),
        .frame("calls it new_message", messages, "message", #""type":"message""#, #""type":"new_message""#),
        Mutant(messages, "pushes nothing to the sender", isSilent: true) {
            Defect(socket: {
                let user = NIOLockedValueBox<Int64>(0)
                return SocketDefect(received: { frame in
                    if frame.contains(#""auth_ok""#) { user.withLockedValue { $0 = frame[integer: "user_id"] } }
                    let isOwn =
                        frame.hasPrefix(#"{"type":"message""#)
                        && frame[integer: "sender_id"] == user.withLockedValue { $0 }
                    return isOwn ? [] : [frame]
                })
            })
        },
    ]

    static let keepalives: [Mutant] = [
        .frame("answers more", keepalive, "pong", #"\}$"#, #","time":1}"#),
        .frame("answers ping", keepalive, "pong", "pong", "ping"),
        .frames("answers twice", keepalive, "pong") { [$0, $0] },
        .frames("answers nothing", keepalive, isSilent: true, "pong") { _ in [] },
    ]

    static let socketErrors: [Mutant] = [
        .socket("closes after an error", errorFrames) {
            let isSignedIn = NIOLockedValueBox(false)
            return SocketDefect(closesAfter: { frame in
                if frame.contains(#""auth_ok""#) { isSignedIn.withLockedValue { $0 = true } }
                return isSignedIn.withLockedValue { $0 } && frame.contains(#""error""#) ? SocketClosed(code: 1008) : nil
            })
        },
        .socket("shows a type whole", errorFrames) {
            let last = NIOLockedValueBox("")
            return SocketDefect(
                sent: { frame in
                    last.withLockedValue { $0 = frame }
                    return ([frame], [])
                },
                received: { frame in
                    guard frame.contains("Unknown message type: ") else { return [frame] }
                    let text = JSONValue.string("Unknown message type: \(last.withLockedValue { $0 }[text: "type"])")
                    return [#"{"type":"error","message":\#(text)}"#]
                })
        },
        .frame("does not show the type", errorFrames, "error", "Unknown message type: .*\"", "Unknown message type\""),
        .frame("words bad JSON otherwise", errorFrames, "error", "Invalid JSON", "Bad JSON"),
        .frames("says nothing about errors", errorFrames, isSilent: true, "error") { _ in [] },
        .socket("takes more than 64 KiB", errorFrames) {
            SocketDefect(sent: { frame in
                frame.utf8.count > 65_536 ? ([], [#"{"type":"pong"}"#]) : ([frame], [])
            })
        },
        .socket("takes 32 KiB", errorFrames) {
            SocketDefect(
                sent: { frame in
                    frame.utf8.count > 32_768 ? ([String(repeating: " ", count: 70_000)], []) : ([frame], [])
                })
        },
        .closing("closes with 1002 for what is too long", 1009, 1002, errorFrames),
        .sent("looks at case in no type", errorFrames) { [$0.replacingOccurrences(of: #""Ping""#, with: #""ping""#)] },
    ]

    static let backlogs: [Mutant] = [
        .sent("is not known", since) { frame in
            [
                frame.replacingOccurrences(of: #","since":\d+"#, with: "", options: .regularExpression)
                    .replacingOccurrences(of: #""since":\d+,"#, with: "", options: .regularExpression)
            ]
        },
        .sent("includes the message itself", since) { frame in
            guard case .integer(let id)? = frame[member: "since"], id > 0,
                case .integer(let chat)? = frame[member: "chat_id"]
            else { return [frame] }
            return [#"{"type":"subscribe","chat_id":\#(chat),"since":\#(id - 1)}"#]
        },
        .sent("leaves out a message", since) { frame in
            guard case .integer(let id)? = frame[member: "since"], id > 0,
                case .integer(let chat)? = frame[member: "chat_id"]
            else { return [frame] }
            return [#"{"type":"subscribe","chat_id":\#(chat),"since":\#(id + 1)}"#]
        },
        .socket("swaps what was missed", since) {
            let held = NIOLockedValueBox<(count: Int, frame: String?)>((0, nil))
            return SocketDefect(received: { frame in
                guard frame.hasPrefix(#"{"type":"message""#) else { return [frame] }
                return held.withLockedValue { held in
                    held.count += 1
                    if held.count == 2 {
                        held.frame = frame
                        return []
                    }
                    defer { held.frame = nil }
                    return [frame] + (held.frame.map { [$0] } ?? [])
                }
            })
        },
        .socket("repeats the last of what was missed", since) {
            let count = NIOLockedValueBox(0)
            return SocketDefect(received: { frame in
                guard frame.hasPrefix(#"{"type":"message""#) else { return [frame] }
                let number = count.withLockedValue { count in
                    count += 1
                    return count
                }
                return number == 3 ? [frame, frame] : [frame]
            })
        },
        .frames("does not confirm", since, isSilent: true, "subscribed") { _ in [] },
        .frame("does not say resync", since, "resync", "resync", "subscribed"),
        .socket("resyncs from 500 on", since) {
            let count = NIOLockedValueBox(0)
            return SocketDefect(received: { frame in
                guard frame.hasPrefix(#"{"type":"message""#) else { return [frame] }
                let number = count.withLockedValue { count in
                    count += 1
                    return count
                }
                return number == 500 ? [#"{"type":"resync","chat_id":\#(frame[integer: "chat_id"])}"#] : [frame]
            })
        },
    ]

    /// Sends a signed-in socket, with its next frame, the events of all users.
    static func overhearing(_ name: String, _ clause: String) -> Mutant {
        Mutant(clause, name) {
            let pushed = NIOLockedValueBox<[String]>([])
            return Defect(socket: {
                let heard = NIOLockedValueBox<Set<String>>([])
                return SocketDefect(received: { frame in
                    let isPush = frame.hasPrefix(#"{"type":"message""#)
                    if frame.contains(#""auth_ok""#) {
                        heard.withLockedValue { $0 = Set(pushed.withLockedValue { $0 }) }
                    }
                    let all = pushed.withLockedValue { pushed in
                        defer { if isPush, !pushed.contains(frame) { pushed.append(frame) } }
                        return pushed
                    }
                    let missed = all.filter { push in heard.withLockedValue { $0.insert(push).inserted } }
                    let isNew = !isPush || heard.withLockedValue { $0.insert(frame).inserted }
                    return missed.filter { $0 != frame } + (isNew || missed.contains(frame) ? [frame] : [])
                })
            })
        }
    }

    /// Replaces the code of a close.
    private static func closing(
        _ name: String, _ code: UInt16, _ other: UInt16, _ clause: String = handshake
    ) -> Mutant {
        .socket(name, clause) {
            SocketDefect(closed: { $0.code == code ? SocketClosed(code: other, reason: $0.reason) : $0 })
        }
    }

    /// Changes the frames of clients, given the users who have signed in.
    private static func acquainted(
        _ name: String, _ change: @escaping @Sendable (String, KnownUsers) -> [String]
    ) -> Mutant {
        Mutant(handshake, name) {
            let people = KnownUsers()
            return Defect(
                exchange: { request, forward in
                    let response = try await forward(request)
                    people.note(request, response)
                    return response
                },
                socket: { SocketDefect(sent: { (change($0, people), []) }) })
        }
    }

    /// Answers a second sign-in on a socket.
    ///
    /// - Parameter decide: Returns whether the sign-in succeeds, given whether it is another user's; nil leaves the
    ///   decision to the server.
    private static func signingInAgain(
        _ name: String, _ kind: String, _ decide: @escaping @Sendable (_ isAnother: Bool) -> ([String], Bool)?
    ) -> Mutant {
        Mutant(handshake, name) {
            let people = KnownUsers()
            return Defect(
                exchange: { request, forward in
                    let response = try await forward(request)
                    people.note(request, response)
                    return response
                },
                socket: {
                    let first = NIOLockedValueBox<Int64?>(nil)
                    return SocketDefect(sent: { frame in
                        let user = people.signIn(withAccess: frame[text: "token"])?.user
                        guard frame.contains(#""auth""#), let user else { return ([frame], []) }
                        let before = first.withLockedValue { first in
                            defer { first = first ?? user }
                            return first
                        }
                        guard let before, let (_, succeeds) = decide(before != user) else { return ([frame], []) }
                        return succeeds
                            ? ([], [#"{"type":"auth_ok","user_id":\#(before)}"#])
                            : ([], [#"{"type":"error","message":"Already authenticated"}"#])
                    })
                })
        }
    }
}
