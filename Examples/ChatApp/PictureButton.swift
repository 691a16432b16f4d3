import MessengerStore
import PhotosUI
import SwiftUI

/// Sends a picture from the user's library.
struct PictureButton: View {
    let chat: ChatState
    @State private var picked: PhotosPickerItem?

    var body: some View {
        PhotosPicker("Picture", selection: $picked, matching: .images)
            .onChange(of: picked) { Task { await send() } }
    }

    private func send() async {
        guard let item = picked else { return }
        picked = nil
        guard let data = try? await item.loadTransferable(type: Data.self) else { return }
        let type = item.supportedContentTypes.first
        let upload = Upload(
            .bytes(Array(data)), filename: "picture.\(type?.preferredFilenameExtension ?? "jpg")",
            contentType: type?.preferredMIMEType ?? "image/jpeg")
        _ = try? await chat.send(upload)
    }
}
