import Foundation
import MessengerClient
import NIOSockets

// chat-example URL USERNAME PASSWORD CHAT_ID: prints the messages of a chat, and sends each typed line to it.

let arguments = CommandLine.arguments
guard arguments.count == 5, let url = URL(string: arguments[1]), let number = Int64(arguments[4]) else {
    say("usage: chat-example URL USERNAME PASSWORD CHAT_ID")
    exit(64)
}
let (username, password, chat) = (arguments[2], arguments[3], Messenger.Chat.ID(number))
let messenger = MessengerClient(
    baseURL: url, sockets: NIOSocketTransport(), retry: Retry(attempts: 1000, cap: .seconds(2)))

do {
    try await signIn()
} catch {
    say("Cannot sign in: \(explain(error))")
    exit(1)
}

let live = messenger.live(pacing: .init(cap: .seconds(2)))
await live.subscribe(to: chat, since: 0)
let listening = Task {
    for try await event in live {
        switch event {
        case .message(let message): say("\(message.sender): \(message.content)")
        case .unsubscribed: say("This chat is not yours to read.")
        default: break
        }
    }
}

let typed = AsyncStream<String> { lines in
    Thread.detachNewThread {
        while let line = readLine() { lines.yield(line) }
        lines.finish()
    }
}
for await line in typed {
    do {
        try await messenger.send(Messenger.SendMessage(chat: chat, content: line))
    } catch {
        say("not sent: \(explain(error))")
    }
}
live.close()
do {
    try await listening.value
} catch {
    say("The connection has ended: \(explain(error))")
    exit(1)
}

/// Signs in, and registers a new user first. It retries for ten minutes while the network or the server is not
/// available.
func signIn() async throws {
    let start = ContinuousClock.now
    while true {
        do {
            try await messenger.signIn(username: username, password: password)
            return
        } catch let error as APIError where error.status == .unauthorized {
            // A registration whose answer was lost has created the user: the next sign-in succeeds.
            _ = try? await messenger.send(
                Messenger.Register(username: username, email: "\(username)@example.com", password: password))
            try await messenger.signIn(username: username, password: password)
            return
        } catch is URLError where ContinuousClock.now - start < .seconds(600) {
            try await Task.sleep(for: .seconds(1))
        }
    }
}

func explain(_ error: any Error) -> String { (error as? APIError)?.message ?? error.localizedDescription }

/// Prints a line without buffering, also into a pipe.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
