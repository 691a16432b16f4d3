import Foundation
import MonicaClient

/// The functions of the SDK that an app calls instead of sending a request. `Tools/swift-calls` shows each behind its
/// operation on the reference page; the compiler holds them to the SDK.
private func referenceCalls(_ client: MonicaAPIClient, _ file: URL) async throws {
    // Monica.Store<Monica.Photo>
    try await client.store(photo: Upload(fileAt: file), of: 5)
    // Monica.Store<Monica.Document>
    try await client.store(document: Upload(fileAt: file), of: 5)
}
