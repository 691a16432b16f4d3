import DunbarClient
import Foundation

/// The functions of the SDK that an app calls instead of sending a request. `Tools/swift-calls` shows each behind its
/// operation on the reference page; the compiler holds them to the SDK.
private func referenceCalls(_ client: DunbarClient, _ file: URL) async throws {
    // Dunbar.Login
    try await client.signIn(username: "jdoe", password: "secret123")
    // Dunbar.Register
    try await client.register(
        Dunbar.Register(
            username: "jdoe", email: "john.doe@example.com", password: "secret123", displayName: "John Doe"))
    // Dunbar.Logout
    try await client.signOut()
    // Dunbar.ChangePassword
    try await client.changePassword(from: "string", to: "stringstring")
    // Dunbar.DeleteAccount
    try await client.deleteAccount(password: "string")
    // Dunbar.RequestArchive
    try await client.downloadArchive(to: file)
    // Dunbar.UploadPhoto
    try await client.uploadPhoto(Upload(fileAt: file), of: 1)
}
