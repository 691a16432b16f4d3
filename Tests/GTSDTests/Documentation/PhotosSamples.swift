import Foundation
import GTSDClient

// The samples of Photos.md.

enum PhotosSamples {
    static func upload(
        _ gtsd: GTSDClient, file: URL, task: GTSD.Task, show: @escaping @Sendable (Double) -> Void
    ) async throws -> GTSD.ConfirmedPhoto {
        // sample
        let photo = Upload(.file(file), filename: "front.jpg", contentType: "image/jpeg")
        let details = GTSDClient.PhotoDetails(task: task.id, stage: .before)
        let confirmed = try await gtsd.uploadPhoto(photo, details: details) { sent, total in
            show(Double(sent) / Double(total))
        }
        // end
        return confirmed
    }

    static func steps(
        _ gtsd: GTSDClient, file: URL, size: Int, put: (URL, URL) async throws -> Void
    ) async throws -> GTSD.ConfirmedPhoto {
        // sample
        let place = try await gtsd.send(
            GTSD.PresignPhoto(fileName: "front.jpg", contentType: "image/jpeg", fileSize: size)
        ).data
        if let url = URL(string: place.uploadUrl) { try await put(file, url) }
        let confirmed = try await gtsd.send(
            GTSD.ConfirmPhoto(fileKey: place.fileKey, fileSize: size, contentType: "image/jpeg")
        ).data
        // end
        return confirmed
    }

    static func list(_ gtsd: GTSDClient, show: (URL) -> Void) async throws {
        // sample
        for try await photo in gtsd.photos() {
            if let url = URL(string: photo.downloadUrl) { show(url) }
        }
        // end
    }

    static func delete(_ gtsd: GTSDClient, confirmed: GTSD.ConfirmedPhoto) async throws {
        // sample
        try await gtsd.send(GTSD.DeletePhoto(confirmed.photoId))
        // end
    }
}

// sample
struct PendingPhoto: Codable {
    var file: URL
    var key = UUID().uuidString
}

func deliver(_ pending: PendingPhoto, with gtsd: GTSDClient) async throws -> GTSD.Photo.ID {
    let photo = Upload(.file(pending.file), filename: "front.jpg", contentType: "image/jpeg")
    return try await gtsd.uploadPhoto(photo, idempotencyKey: pending.key).photoId
}
// end
