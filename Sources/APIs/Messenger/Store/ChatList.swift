import ContractClient
import Foundation
import MessengerAPI
import Observation

/// The chats of an account.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor @Observable public final class ChatList {
    /// The chats, those with the newest messages first.
    public private(set) var all: [StoredChat] = []

    /// The number of unread messages in all chats, for the app's badge.
    public var unreadCount: Int { all.reduce(0) { $0 + $1.unreadCount } }

    init() {}

    func show(_ chats: [StoredChat]) {
        if chats != all { all = chats }
    }
}

/// The files of messages on this device.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor @Observable public final class StoreFiles {
    /// The downloads in progress.
    public private(set) var downloads: [Messenger.File.ID: TransferProgress] = [:]

    @ObservationIgnored private let engine: StoreEngine

    init(_ engine: StoreEngine) { self.engine = engine }

    /// Returns the place of a file on this device, and downloads it first if it is not there. Calls at the same time share
    /// one download, which goes on in a later launch if it is interrupted.
    ///
    /// The file may be removed when others need its room: do not keep the URL for later.
    ///
    /// - Throws: The errors of `MessengerClient.download(_:to:progress:)`.
    public func url(of file: Messenger.File.ID) async throws -> URL { try await engine.file(file) }

    /// Returns the place of a file on this device; nil when it has not been downloaded. It never asks the server.
    ///
    /// - Throws: The error of the disk.
    public func localURL(of file: Messenger.File.ID) async throws -> URL? { try await engine.place(of: file) }

    func show(_ transfers: [Messenger.File.ID: TransferProgress]) {
        if transfers != downloads { downloads = transfers }
    }
}
