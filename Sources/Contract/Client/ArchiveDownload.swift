import Contract
import Foundation

/// The server could not make an archive. It may be asked for again.
public struct ArchiveFailed: Error, Sendable {
    public init() {}
}

extension ArchiveFailed: ReadableError {
    public var translationKey: String { "error.archive-failed" }
    public var errorDescription: String? { "Your data could not be put together." }
    public var recoverySuggestion: String? { "Please try again later." }
}

/// Downloads the archive with all that a server keeps of a person: asks for it, waits until it is ready, and continues a download
/// that was interrupted.
package struct ArchiveDownload: Sendable {
    private let download: FileDownload
    private let retry: Retry

    package init(transport: any Transport, retry: Retry) {
        download = FileDownload(transport: transport, retry: retry)
        self.retry = retry
    }

    /// Downloads the archive.
    ///
    /// - Parameters:
    ///   - request: Asks for the archive.
    ///   - current: Returns its state.
    /// - Throws: ``ArchiveFailed``, the errors of ``FileDownload`` and of the two closures.
    package func run<Archive: ArchiveDescription>(
        to destination: URL, progress: DownloadProgress?, request: @Sendable () async throws -> Archive,
        current: @escaping @Sendable () async throws -> Archive
    ) async throws -> DownloadedFile {
        var archive = try await request()
        var pause = Duration.seconds(1)
        while archive.state != .ready {
            guard archive.state != .failed else { throw ArchiveFailed() }
            try await retry.sleep(pause)
            pause = min(pause * 2, .seconds(30))
            archive = try await current()
        }
        return try await download.run(to: destination, progress: progress) {
            guard let url = try await current().url.flatMap(URL.init(string:)) else { throw ArchiveFailed() }
            return url
        }
    }
}
