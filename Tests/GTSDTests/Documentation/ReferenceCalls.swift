import Foundation
import GTSDClient

/// The functions of the SDK that an app calls instead of sending a request. `Tools/swift-calls` shows each behind its
/// operation on the reference page; the compiler holds them to the SDK.
private func referenceCalls(_ client: GTSDClient, _ file: URL) async throws {
    // GTSD.SignUp
    try await client.signUp(email: "anna@example.com", password: "Secret-123")
    // GTSD.LogIn
    try await client.signIn(email: "anna@example.com", password: "Secret-123")
    // GTSD.Refresh: The client renews its session by itself.
    // GTSD.LogOut
    try await client.signOut()
    // GTSD.ChangePassword
    try await client.changePassword(from: "Secret-123", to: "Secret-456")
    // GTSD.DeleteMe
    try await client.deleteAccount(password: "Secret-123")
    // GTSD.RequestArchive
    try await client.downloadArchive(to: file)
    // GTSD.PresignPhoto
    try await client.uploadPhoto(Upload(fileAt: file))
}
