import Foundation
import MessengerClient

// The samples of Files.md.

enum FilesSamples {
    static func photo(
        _ messenger: MessengerClient, chat: Messenger.Chat.ID, url: URL
    ) async throws -> Messenger.File {
        // sample
        let photo = Upload(fileAt: url)
        let file = try await messenger.upload(photo) { sent, total in
            print("\(sent) of \(total) bytes")
        }
        try await messenger.send(
            Messenger.SendMessage(chat: chat, content: "Look!", type: .file, file: file.id))
        // end
        return file
    }

    static func voice(_ messenger: MessengerClient, chat: Messenger.Chat.ID, recording: [UInt8]) async throws {
        // sample
        let voice = Upload(.bytes(recording), filename: "voice.m4a", contentType: "audio/m4a")
        let file = try await messenger.upload(voice)
        try await messenger.send(Messenger.SendMessage(chat: chat, content: "", type: .voice, file: file.id))
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

    static func picture(_ messenger: MessengerClient, file: Messenger.File.ID) async throws -> URL {
        // sample
        let picture = try await messenger.downloadURL(of: file)
        // end
        return picture
    }
}
