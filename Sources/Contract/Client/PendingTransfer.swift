import Foundation

/// An upload or a download of one file that the system carries out by itself, also while the app is suspended and after it has
/// ended. A relaunched app picks it up (``BackgroundTransfers``).
public struct PendingTransfer: Codable, Hashable, Sendable, Identifiable {
    /// The direction of a transfer.
    public enum Direction: String, Codable, Sendable {
        case upload, download
    }

    /// The transfer's name on this device, which stays the same between launches.
    public let id: String
    /// The direction.
    public let direction: Direction
    /// The HTTP method.
    public let method: String
    /// The URL, which is its own permission: a transfer outlives the session's tokens.
    public let url: URL
    /// The headers of the request.
    public let headers: [String: String]
    /// The time from which the URL is refused; nil if it is always good. A transfer that has not begun by then fails.
    public let expiresAt: Date?
    /// A value of the app or its client, which the transfer carries into later launches.
    public let label: Data

    private init(
        _ direction: Direction, _ method: String, _ url: URL, _ headers: [String: String], _ expiresAt: Date?,
        _ label: Data
    ) {
        id = UUID().uuidString.lowercased()
        self.direction = direction
        self.method = method
        self.url = url
        self.headers = headers
        self.expiresAt = expiresAt
        self.label = label
    }

    /// Makes an upload of a file to a URL that needs no token.
    public static func upload(
        to url: URL, method: String = "PUT", headers: [String: String] = [:], expiresAt: Date? = nil,
        label: Data = Data()
    ) -> PendingTransfer {
        .init(.upload, method, url, headers, expiresAt, label)
    }

    /// Makes a download of a file from a URL that needs no token.
    public static func download(
        from url: URL, headers: [String: String] = [:], expiresAt: Date? = nil, label: Data = Data()
    ) -> PendingTransfer {
        .init(.download, "GET", url, headers, expiresAt, label)
    }
}

/// How a transfer has ended.
public enum TransferResult: Codable, Hashable, Sendable {
    /// The server has answered, with this status. A download with 200 has its file.
    case answered(status: Int)
    /// The URL has expired before the transfer began again in a later launch.
    case expired
    /// The transfer has failed, for this reason, in a developer's words.
    case failed(String)

    /// Whether the file has arrived.
    public var isSuccess: Bool {
        if case .answered(200..<300) = self { true } else { false }
    }
}

/// A change of a transfer.
public enum TransferChange: Hashable, Sendable {
    /// Bytes have been transferred. The total is negative while the server does not tell it.
    case progressed(PendingTransfer.ID, completed: Int64, total: Int64)
    /// A transfer has ended. It stays among ``BackgroundTransfers/finished`` until the app forgets it.
    case finished(PendingTransfer.ID, TransferResult)
}

/// The part of a platform's background session that ``BackgroundTransfers`` uses.
package protocol BackgroundTasks: Sendable {
    /// Starts a task that is known by the transfer's id, in later launches too.
    func start(_ transfer: PendingTransfer, file: URL)
    /// Returns the ids of the transfers that have a task.
    func running() async -> Set<String>
    /// Cancels the task of a transfer.
    func cancel(_ id: String) async
}
