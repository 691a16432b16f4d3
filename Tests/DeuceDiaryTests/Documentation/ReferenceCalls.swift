import DeuceDiaryClient
import Foundation

/// The functions of the SDK that an app calls instead of sending a request. `Tools/swift-calls` shows each behind its
/// operation on the reference page; the compiler holds them to the SDK.
private func referenceCalls(_ client: DeuceDiaryClient, _ file: URL) async throws {
    // DeuceDiary.UploadProfilePicture
    let user = try await client.uploadProfilePicture(Upload(fileAt: file))
    // DeuceDiary.RequestArchive
    try await client.downloadArchive(to: file)
    // DeuceDiary.DeleteUser
    try await client.deleteAccount()
    _ = user
}
