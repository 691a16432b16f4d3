import MessengerStore
import SwiftUI

/// The picture of a message: from this device, or downloaded and kept there.
struct PictureView: View {
    let store: MessengerStore
    let file: Messenger.File.ID
    @State private var place: URL?

    var body: some View {
        StoredPicture(place: place)
            .task(id: file) { await load() }
    }

    private func load() async { place = try? await store.files.url(of: file) }
}

/// A picture on this device. Another file is shown as its word.
struct StoredPicture: View {
    let place: URL?

    var body: some View {
        AsyncImage(url: place) { phase in
            if let image = phase.image {
                image.resizable().scaledToFit()
            } else {
                Text("File")
            }
        }
        .frame(maxHeight: 240)
    }
}
