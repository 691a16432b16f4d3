import Foundation
import HTTPTypes

/// Uploads and downloads that go on while the app is suspended, and after it has ended: on Apple platforms, over a background
/// session of `URLSession`.
///
/// ```swift
/// let transfers = try BackgroundTransfers(identifier: "com.example.app.photos", in: folder)
/// try await transfers.resume()
/// for transfer in transfers.finished where transfer.result.isSuccess { … }
/// ```
///
/// An app makes one in each launch, with the same identifier and folder. A transfer is on the disk before it begins, and its
/// result before the system learns that it was seen, so a process may end at any time.
public final class BackgroundTransfers: Sendable {
    private let journal: TransferJournal
    private let tasks: any BackgroundTasks
    private let now: @Sendable () -> Date

    package init(
        _ journal: TransferJournal, _ tasks: any BackgroundTasks, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.journal = journal
        self.tasks = tasks
        self.now = now
    }

    /// The transfers that have not ended.
    public var pending: [PendingTransfer] { journal.pending }
    /// The transfers that have ended, in this launch or earlier ones, until they are forgotten.
    public var finished: [(transfer: PendingTransfer, result: TransferResult)] { journal.finished }
    /// Every change from now on. Any number of tasks may observe them.
    public var changes: AsyncStream<TransferChange> { journal.changes }

    /// Returns the place of a transfer's file: the copy that is uploaded, or what has been downloaded. It is there until the
    /// transfer is forgotten; move a downloaded file away before.
    public func file(of transfer: PendingTransfer.ID) -> URL { journal.file(of: transfer) }

    /// Begins a transfer.
    ///
    /// - Parameter file: The file to upload, which is copied; nil for a download.
    /// - Throws: The disk's error.
    public func begin(_ transfer: PendingTransfer, file: URL? = nil) throws {
        try journal.add(transfer, file: file)
        tasks.start(transfer, file: journal.file(of: transfer.id))
    }

    /// Begins those transfers again that the system does not know any more, such as after the user has ended the app. Call it
    /// once in each launch.
    public func resume() async {
        let running = await tasks.running()
        for transfer in journal.pending where !running.contains(transfer.id) {
            if let end = transfer.expiresAt, end <= now() {
                journal.ended(transfer.id, .expired)
            } else {
                tasks.start(transfer, file: journal.file(of: transfer.id))
            }
        }
    }

    /// Waits until a transfer has ended.
    ///
    /// - Throws: `CancellationError`, also for a transfer that is forgotten. The transfer itself continues when the waiting
    ///   task is cancelled.
    public func result(of transfer: PendingTransfer.ID) async throws -> TransferResult {
        let changes = changes
        if let known = finished.first(where: { $0.transfer.id == transfer }) { return known.result }
        for await case .finished(transfer, let result) in changes { return result }
        throw CancellationError()
    }

    /// Forgets a transfer with its file, and cancels it if it has not ended.
    ///
    /// - Throws: The disk's error.
    public func forget(_ transfer: PendingTransfer.ID) async throws {
        await tasks.cancel(transfer)
        try journal.forget(transfer)
    }
}

#if !canImport(FoundationNetworking)
extension BackgroundTransfers {
    /// Creates the transfers of an app, and connects to those that the system carries out.
    ///
    /// - Parameters:
    ///   - identifier: A name of the session, the same in each launch and different for an extension.
    ///   - folder: A folder for the transfers, such as one in Application Support. It need not exist.
    ///   - sharedContainer: The container that an extension shares with its app; nil for an app.
    /// - Throws: The disk's error.
    public convenience init(identifier: String, in folder: URL, sharedContainer: String? = nil) throws {
        let journal = try TransferJournal(folder)
        let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.sessionSendsLaunchEvents = true
        configuration.sharedContainerIdentifier = sharedContainer
        self.init(journal, BackgroundSession(configuration, journal))
    }

    /// Passes on the events for which the system has woken the app up. Call it in the app delegate's
    /// `application(_:handleEventsForBackgroundURLSession:completionHandler:)`.
    ///
    /// - Parameter completion: The handler from the system, which is called on the main thread when all events are stored.
    public func handleEvents(completion: @escaping @MainActor @Sendable () -> Void) {
        (tasks as? BackgroundSession)?.events.use { $0 = completion }
    }
}

/// A background session of the platform. Its delegate gets every event, those of tasks of earlier launches too.
private final class BackgroundSession: NSObject, BackgroundTasks, URLSessionDownloadDelegate {
    let events = Locked<(@MainActor @Sendable () -> Void)?>(nil)
    private let journal: TransferJournal
    private let session: Locked<URLSession?>

    init(_ configuration: URLSessionConfiguration, _ journal: TransferJournal) {
        self.journal = journal
        session = Locked(nil)
        super.init()
        // The session holds its delegate for as long as the app lives.
        let made = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        session.use { $0 = made }
    }

    func start(_ transfer: PendingTransfer, file: URL) {
        var request = URLRequest(url: transfer.url)
        request.httpMethod = transfer.method
        for (name, value) in transfer.headers { request.setValue(value, forHTTPHeaderField: name) }
        guard let session = session.use({ $0 }) else { return }
        let task =
            switch transfer.direction {
            case .upload: session.uploadTask(with: request, fromFile: file) as URLSessionTask
            case .download: session.downloadTask(with: request) as URLSessionTask
            }
        // The description outlives the process.
        task.taskDescription = transfer.id
        task.resume()
    }

    func running() async -> Set<String> {
        guard let session = session.use({ $0 }) else { return [] }
        return Set(await session.allTasks.compactMap(\.taskDescription))
    }

    func cancel(_ id: String) async {
        guard let session = session.use({ $0 }) else { return }
        for task in await session.allTasks where task.taskDescription == id { task.cancel() }
    }

    // MARK: The delegate

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        guard let id = task.taskDescription else { return }
        journal.progressed(id, completed: totalBytesSent, total: totalBytesExpectedToSend)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        guard let id = downloadTask.taskDescription else { return }
        journal.progressed(id, completed: totalBytesWritten, total: totalBytesExpectedToWrite)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        guard let id = downloadTask.taskDescription else { return }
        journal.received(id, at: location)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let id = task.taskDescription else { return }
        if let error {
            journal.ended(id, .failed("\(error)"))
        } else if let response = task.response as? HTTPURLResponse {
            journal.ended(id, .answered(status: response.statusCode))
        } else {
            journal.ended(id, .failed("no answer"))
        }
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        let completion = events.use { events in
            defer { events = nil }
            return events
        }
        guard let completion else { return }
        Task { @MainActor in completion() }
    }
}
#endif
