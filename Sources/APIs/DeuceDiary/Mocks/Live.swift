import Contract
import ContractMocks
import DeuceDiaryAPI
import Foundation

/// The mock's state of one open socket.
struct MockLiveSocket: Sendable {
    let connection: MockConnection
    /// Whether the socket is subscribed to "Throne Room".
    var isJoined = false

    func push(_ frame: some DeuceDiary.ServerFrame) {
        // Frames consist of texts and numbers, which JSON can always represent.
        guard let bytes = try? frame.json() else { return }
        connection.push(String(decoding: bytes, as: UTF8.self))
    }
}

extension DeuceDiaryMemory {
    /// Handles a frame. The contract has no answers to frames.
    mutating func receive(_ text: String, on connection: MockConnection) {
        sockets.removeAll { !$0.connection.isOpen }
        guard let index = sockets.firstIndex(where: { $0.connection === connection }),
            let join = try? DeuceDiary.clientFrames.decode(Data(text.utf8)) as? DeuceDiary.WatchGroup
        else { return }
        sockets[index].isJoined = join.group == DeuceDiary.Group.example.id
    }
}
