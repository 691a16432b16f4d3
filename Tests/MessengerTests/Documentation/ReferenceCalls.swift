import Foundation
import MessengerClient

/// The functions of the SDK that an app calls instead of sending a request. `Tools/swift-calls` shows each behind its
/// operation on the reference page; the compiler holds them to the SDK.
private func referenceCalls(_ client: MessengerClient, _ file: URL) async throws {
    // Messenger.Login
    try await client.signIn(username: "alice", password: "secret123")
    // Messenger.Refresh: The client renews its session by itself.
    // Messenger.Logout
    try await client.signOut()
    // Messenger.ChangePassword
    try await client.changePassword(from: "secret123", to: "another one")
    // Messenger.DeleteMe
    try await client.deleteAccount(password: "secret123")
    // Messenger.RequestArchive
    try await client.downloadArchive(to: file)
    // Messenger.UploadFile
    let uploaded = try await client.upload(Upload(fileAt: file))
    // Messenger.DownloadFile
    try await client.download(42, to: file)
    _ = uploaded
}
