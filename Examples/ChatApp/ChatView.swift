import MessengerStore
import SwiftUI

struct ChatView: View {
    let store: MessengerStore
    let chat: ChatState
    @State private var text = ""

    var body: some View {
        VStack {
            List {
                if chat.hasOlder { Button("Older messages") { Task { try? await chat.loadOlder() } } }
                ForEach(chat.messages) { message in
                    if message.followsGap { Button("…") { Task { try? await chat.loadOlder() } } }
                    VStack(alignment: .leading) {
                        Text("\(name(of: message.sender)): \(message.content)")
                        if message.type == .file, let file = message.file { PictureView(store: store, file: file) }
                    }
                }
                ForEach(chat.outgoing) { OutgoingRow(message: $0, chat: chat) }
            }
            if let typist = chat.typing.first { Text("\(name(of: typist)) is typing …") }
            HStack {
                PictureButton(chat: chat)
                TextField("Message", text: $text)
                    .onChange(of: text) { Task { await chat.startTyping() } }
                    .onSubmit(send)
            }
        }
        .navigationTitle(chat.chat?.title ?? "")
        .toolbar {
            Button(isMuted ? "Unmute" : "Mute") {
                Task { if isMuted { try? await chat.unmute() } else { try? await chat.mute() } }
            }
        }
        .task(id: chat.messages.last?.id) { await chat.markRead() }
    }

    private var isMuted: Bool { chat.chat?.mute != nil }

    private func name(of user: Messenger.User.ID) -> String {
        chat.members.first { $0.id == user }?.displayName ?? "Deleted account"
    }

    private func send() {
        let written = text
        text = ""
        Task {
            // A text that the API never takes stays in its field.
            do { try await chat.send(written) } catch { text = written }
        }
    }
}

/// A message that is on its way.
struct OutgoingRow: View {
    let message: OutgoingMessage
    let chat: ChatState

    var body: some View {
        VStack(alignment: .leading) {
            Text(message.content)
            if let place = message.location { StoredPicture(place: place) }
            if let progress = message.progress { ProgressView(value: progress) }
            switch message.state {
            case .waiting, .sending, .sent: Text("Sending …")
            case .failed(let failure):
                Text(failure.errorDescription ?? "")
                Button("Try again") { Task { try? await chat.retry(message.id) } }
                Button("Discard") { Task { try? await chat.discard(message.id) } }
            }
        }
    }
}
