import Contract
import ContractMocks
import HTTPTypes
import MessengerAPI
import MessengerExamples

extension Messenger.File {
    /// The example: a photo.
    public static let example: Self = contractExample(MessengerExamples.file)
}

extension Messenger.FileDescription {
    /// The example: the photo as a list of messages describes it.
    public static let example: Self = contractExample(MessengerExamples.fileDescription)
}

extension MessengerMock {
    /// A picture of 16 by 12 pixels, so that an image view has something to show without a network.
    static let photo =
        "data:image/jpeg;base64," + """
            /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABQODxIPDRQSEBIXFRQYHjIhHhwcHj0sLiQySUBMS0dARkVQWnNiUFVtVkVGZIhlbXd7gYKBTmCN\
            l4x9lnN+gXz/2wBDARUXFx4aHjshITt8U0ZTfHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHz/\
            wAARCAAMABADASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAwT/xAAYEAACAwAAAAAAAAAAAAAAAAAAAgEDYf/EABQBAQAAAAAAAAAA\
            AAAAAAAAAAP/xAAYEQADAQEAAAAAAAAAAAAAAAAAAQMCBP/aAAwDAQACEQMRAD8AFKcKEpwVFgpRYHttgc9Gf//Z
            """

    func files() {
        server.example(answering: Messenger.DownloadFile.self) { request in
            try Self.requireFile(request.id)
            return Answer(Messenger.DownloadFile.route.status, headers: [.location: Self.photo])
        }
        server.example(of: Messenger.DeleteFile.self) { request in
            try Self.requireFile(request.id)
            return Empty()
        }
    }

    static func requireFile(_ file: Messenger.File.ID) throws {
        guard file == Messenger.File.example.id else { throw Problem(.notFound, "File not found") }
    }
}
