import Foundation
import MessengerClient
import Testbed

// The samples of Files.md.

enum FilesSamples {
    static func photo(
        _ messenger: MessengerClient, chat id: Messenger.Chat.ID, url: URL
    ) async throws -> Messenger.File {
        let chat = Identified(id)
        // sample
        let photo = Upload(fileAt: url)
        let file = try await messenger.upload(photo) { sent, total in
            print("\(sent) of \(total) bytes")
        }
        try await messenger.send(
            Messenger.SendMessage(chat: chat.id, content: "Look!", type: .file, file: file.id))
        // end
        return file
    }

    static func voice(_ messenger: MessengerClient, chat id: Messenger.Chat.ID, recording: [UInt8]) async throws {
        let chat = Identified(id)
        // sample
        let voice = Upload(.bytes(recording), filename: "voice.m4a", contentType: "audio/m4a")
        let file = try await messenger.upload(voice)
        try await messenger.send(Messenger.SendMessage(chat: chat.id, content: "", type: .voice, file: file.id))
        // end
    }

    static func fetch(_ messenger: MessengerClient, message: Messenger.Message, to destination: URL) async throws {
        func show(_ location: URL, named name: String?) {}
        // sample
        if let file = message.file {
            let downloaded = try await messenger.download(file, to: destination) { received, total in
                print("\(received) of \(total) bytes")
            }
            show(downloaded.location, named: downloaded.filename)
        }
        // end
    }

    static func picture(_ messenger: MessengerClient, file id: Messenger.File.ID) async throws -> URL {
        let file = Identified(id)
        // sample
        let picture = try await messenger.downloadURL(of: file.id)
        // end
        return picture
    }
}
