import Contract
import ContractClient
import Foundation
import GTSDAPI
import HTTPTypes

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The evidence and photos of an account that the server does not have yet. ``GTSDClient/outbox(of:in:limits:)`` opens it.
public typealias GTSDOutbox = DurableOutbox<GTSDClient.Outgoing>

extension GTSDClient {
    /// An item of an outbox.
    public enum Outgoing: Codable, Sendable {
        /// Evidence that a task was done.
        case evidence(GTSD.SubmitEvidence)
        /// A progress photo; its file is the item's.
        case photo(PhotoDetails)
    }

    /// Opens the outbox of the signed-in user, and begins to send what waits in it. Keep one for as long as the user is signed
    /// in. ``signOut()`` and ``deleteAccount(password:)`` wipe the outboxes that this client has opened.
    ///
    /// - Parameters:
    ///   - user: The signed-in user. While another one is signed in, nothing is sent.
    ///   - folder: A folder for the outboxes of this server. It need not exist.
    ///   - limits: The bounds of the outbox.
    /// - Throws: The disk's error.
    public func outbox(
        of user: GTSD.User.ID, in folder: URL, limits: OutboxLimits = .standard
    ) async throws -> GTSDOutbox {
        var settings = outboxSettings(of: user)
        settings.limits = limits
        return try await open(of: user, in: folder, settings: settings)
    }

    /// Opens an outbox with other settings.
    package func open(
        of user: GTSD.User.ID, in folder: URL, settings: OutboxSettings<Outgoing>,
        pacing: LiveConnection.Pacing = .standard
    ) async throws -> GTSDOutbox {
        let outbox = try await GTSDOutbox.open(of: user.rawValue, in: folder, settings: settings, pacing: pacing)
        outboxes.add(outbox)
        return outbox
    }

    package func outboxSettings(of user: GTSD.User.ID) -> OutboxSettings<Outgoing> {
        // The outbox repeats by itself.
        let client = Client<GTSD>(
            baseURL: baseURL, transport: transport, credentials: OwnSession(session: session, user: user.rawValue),
            retry: .never)
        var settings = OutboxSettings<Outgoing>(
            keyLifetime: { content in
                switch content {
                // An hour less than the server's: clocks differ.
                case .evidence: .seconds((GTSD.SubmitEvidence.route.keyHours - 1) * 3600)
                // A photo goes to the place that it has, and is confirmed there once.
                case .photo: nil
                }
            },
            deliver: { [transport] delivery in
                switch delivery.content {
                case .evidence(let request): try await client.send(request, idempotencyKey: delivery.key)
                case .photo(let details):
                    try await PhotoDelivery(client: client, transport: transport, delivery, details).run()
                }
            })
        settings.now = now
        return settings
    }
}

extension DurableOutbox where Content == GTSDClient.Outgoing {
    /// Submits evidence as soon as there is a network, with the present time as ``GTSD/SubmitEvidence/occurredAt`` unless it
    /// has one. The server takes evidence for 48 hours; later it is refused, and fails with
    /// ``OutboxFailure/Reason/refused(status:)`` and status 400.
    ///
    /// - Returns: The evidence as it waits. It is on the disk.
    /// - Throws: ``APIError`` for evidence that the server would refuse, ``OutboxFull``, the disk's error.
    @discardableResult
    public func submit(_ evidence: GTSD.SubmitEvidence) throws -> OutboxItem<GTSDClient.Outgoing> {
        var evidence = evidence
        let now = settings.now()
        if evidence.occurredAt == nil { evidence.occurredAt = GTSD.Timestamp(now).description }
        do { try evidence.validate() } catch { throw APIError(error) }
        return try add(.evidence(evidence), createdAt: now)
    }

    /// Uploads a progress photo as soon as there is a network.
    ///
    /// - Parameters:
    ///   - photo: Up to 10 MiB of JPEG, PNG or HEIC. The outbox copies it.
    ///   - details: Additional information about the photo. It was taken now unless they say when.
    /// - Returns: The photo as it waits. It is on the disk.
    /// - Throws: ``APIError`` for a photo that the server would refuse, ``OutboxFull``, the disk's error.
    @discardableResult
    public func upload(
        _ photo: Upload, details: GTSDClient.PhotoDetails = .init()
    ) throws -> OutboxItem<GTSDClient.Outgoing> {
        var details = details
        let now = settings.now()
        details.takenAt = details.takenAt ?? .init(now)
        let (_, size) = try photo.body()
        do {
            try GTSD.PresignPhoto(fileName: photo.filename, contentType: photo.contentType, fileSize: size).validate()
            try GTSD.ConfirmPhoto(photo, size: size, at: "-", details).validate()
        } catch {
            throw APIError(error)
        }
        return try add(.photo(details), files: [photo], createdAt: now)
    }
}

extension GTSD.ConfirmPhoto {
    init(_ photo: Upload, size: Int, at place: String, _ details: GTSDClient.PhotoDetails) {
        self.init(
            fileKey: place, width: details.width, height: details.height, fileSize: size,
            contentType: photo.contentType, takenAt: details.takenAt, taskId: details.task,
            evidenceType: details.stage)
    }
}

/// Hands out the tokens of one user's session, and none when another one is signed in.
private struct OwnSession: Credentials {
    let session: TokenSession
    let user: String

    func token(after earlier: String?) async throws -> String { try await own(session.token(after: earlier)) }
    func renew(_ refused: String) async throws -> String { try await own(session.renew(refused)) }

    private func own(_ token: String) async throws -> String {
        guard let tokens = try await session.current, tokens.accessToken == token, tokens.user == user else {
            throw SignedOut()
        }
        return token
    }
}

/// Brings a photo of the outbox to the server, once: its place in the store is on the disk before the file goes there, and a
/// place is confirmed once, however often that is asked for.
private struct PhotoDelivery {
    let client: Client<GTSD>
    let transport: any Transport
    let delivery: OutboxDelivery<GTSDClient.Outgoing>
    let details: GTSDClient.PhotoDetails

    init(
        client: Client<GTSD>, transport: any Transport, _ delivery: OutboxDelivery<GTSDClient.Outgoing>,
        _ details: GTSDClient.PhotoDetails
    ) {
        self.client = client
        self.transport = transport
        self.delivery = delivery
        self.details = details
    }

    func run() async throws {
        guard let photo = delivery.files.first else { return }
        let (body, size) = try photo.body()
        if let place = delivery.remembered.flatMap({ try? JSONDecoder().decode(GTSD.PresignedUpload.self, from: $0) }) {
            if try await put(body, at: place) { return try await confirm(photo, size, at: place) }
            // The URL has expired, or the photo is confirmed already.
            do {
                return try await confirm(photo, size, at: place)
            } catch let error as APIError where error.status == .notFound {
                // The file has not arrived there.
            }
        }
        let presign = GTSD.PresignPhoto(fileName: photo.filename, contentType: photo.contentType, fileSize: size)
        let place = try await client.send(presign).data
        try await delivery.remember(JSONEncoder().encode(place))
        guard try await put(body, at: place) else { throw UploadRefused(status: .forbidden) }
        try await confirm(photo, size, at: place)
    }

    /// Puts the file into the store, without the token: the URL is its own permission.
    ///
    /// - Returns: False when the place does not take the file, or no longer.
    private func put(_ body: TransportRequest.Body, at place: GTSD.PresignedUpload) async throws -> Bool {
        guard let url = URL(string: place.uploadUrl) else { throw URLError(.badURL) }
        let request = TransportRequest(method: .put, url: url, body: body)
        let response = try await transport.send(request, progress: delivery.progress)
        switch response.status {
        case _ where response.status.kind == .successful: return true
        case .forbidden, .conflict, .gone: return false
        case .requestTimeout, .tooManyRequests: throw UploadRefused(status: response.status)
        case _ where response.status.kind == .clientError:
            throw OutboxFailure(status: response.status.code, UploadRefused(status: response.status))
        default: throw UploadRefused(status: response.status)
        }
    }

    private func confirm(_ photo: Upload, _ size: Int, at place: GTSD.PresignedUpload) async throws {
        try await client.send(GTSD.ConfirmPhoto(photo, size: size, at: place.fileKey, details))
    }
}
