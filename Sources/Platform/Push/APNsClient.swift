import AsyncHTTPClient
import CoreMetrics
import Foundation
import NIOCore
import NIOHTTP1

/// Sends notifications to Apple's push service over HTTP/2, with a token that its team has signed.
///
/// A connection carries many notifications at the same time. A lost one is replaced, and what it carried is sent again: Apple
/// may have taken it already, so a notification that must not appear twice has a collapse id.
public final class APNsClient: Sendable {
    /// The number of times that a notification is sent when connections are lost.
    private static let attempts = 3
    /// The most bytes of an answer that are read.
    private static let maximumAnswer = 4096

    private let topic: String
    private let endpoint: APNsEndpoint
    private let tokens: ProviderTokens
    private let http: HTTPClient
    private let timeout: TimeAmount
    private let metrics = PushMetrics()

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - topic: The app's bundle id (`apns-topic`).
    ///   - timeout: The time limit of making a connection, and of a request.
    ///   - now: Returns the time in Unix seconds.
    public init(
        _ key: APNsKey, topic: String, at endpoint: APNsEndpoint = .apple, timeout: TimeAmount = .seconds(10),
        now: @escaping @Sendable () -> Int64
    ) {
        self.topic = topic
        self.endpoint = endpoint
        self.timeout = timeout
        tokens = ProviderTokens(key, now: now)
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: endpoint.tls, redirectConfiguration: .disallow,
            timeout: .init(connect: timeout))
        configuration.httpVersion = .automatic
        http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    deinit { Task { [http] in try? await http.shutdown() } }

    /// Sends a notification. A connection that is lost and a token that has expired are replaced, and it is sent again.
    ///
    /// - Returns: The outcome. It is ``PushOutcome/refused(reason:)`` without a request for a notification that is too
    ///   large.
    public func send(_ notification: PushNotification) async -> PushOutcome {
        let outcome = await outcome(of: notification)
        metrics.count(outcome)
        return outcome
    }

    private func outcome(of notification: PushNotification) async -> PushOutcome {
        guard notification.payload.count <= PushNotification.maximumPayload else {
            return .refused(reason: "PayloadTooLarge")
        }
        guard (notification.collapseID?.utf8.count ?? 0) <= PushNotification.maximumCollapseID else {
            return .refused(reason: "BadCollapseId")
        }
        var failure = ""
        var token: String?
        for attempt in 1...Self.attempts {
            do {
                let bearer: String
                if let token { bearer = token } else { bearer = try await tokens.token() }
                token = bearer
                let answer = try await ask(notification, bearer)
                guard answer.isExpiredToken else { return answer.outcome }
                guard let other = try await tokens.token(after: bearer) else { return answer.outcome }
                token = other
                failure = answer.reason
            } catch {
                // The description of an error has neither the token nor the payload.
                failure = "\(error)"
                if Task.isCancelled { break }
                if attempt < Self.attempts { try? await Task.sleep(for: .milliseconds(100 << attempt)) }
            }
        }
        return .postponed(reason: failure, retryAfter: nil)
    }

    private func ask(_ notification: PushNotification, _ token: String) async throws -> APNsAnswer {
        var request = HTTPClientRequest(url: endpoint.url(of: notification.device))
        request.method = .POST
        request.headers = [
            "authorization": "bearer \(token)", "apns-topic": topic, "apns-push-type": notification.kind.rawValue,
            "apns-priority": "\(notification.priority.rawValue)", "apns-expiration": "\(notification.expiresAt)",
        ]
        if let id = notification.collapseID { request.headers.add(name: "apns-collapse-id", value: id) }
        request.body = .bytes(notification.payload)
        let response = try await http.execute(request, timeout: timeout)
        let body = try await response.body.collect(upTo: Self.maximumAnswer)
        return APNsAnswer(
            status: Int(response.status.code), retryAfter: response.headers.first(name: "retry-after"),
            body: Data(body.readableBytesView))
    }
}

/// An answer of the service.
struct APNsAnswer {
    private struct Body: Decodable {
        var reason: String?
        var timestamp: Int64?
    }

    let outcome: PushOutcome
    /// The service's word for what is wrong: `BadDeviceToken`.
    let reason: String
    /// Whether the team's token has expired.
    let isExpiredToken: Bool

    init(status: Int, retryAfter: String?, body: Data) {
        let body = try? JSONDecoder().decode(Body.self, from: body)
        // It is shown in the log, so it is a word.
        let word = (body?.reason ?? "").prefix(64).filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        let reason = word.isEmpty ? "status \(status)" : String(word)
        let pause = retryAfter.flatMap(Int64.init).map { max(0, min($0, 86_400)) * 1000 }
        self.reason = reason
        isExpiredToken = status == 403 && reason == "ExpiredProviderToken"
        outcome =
            switch (status, reason) {
            case (200, _): .sent
            case (410, _): .gone(reason: reason, since: body?.timestamp)
            case (400, "BadDeviceToken"): .gone(reason: reason, since: nil)
            case (403, "ExpiredProviderToken"), (429, _), (500..., _): .postponed(reason: reason, retryAfter: pause)
            default: .refused(reason: reason)
            }
    }
}

/// Counts the attempts to send a notification.
private struct PushMetrics: Sendable {
    private let sent = Self.pushes("sent")
    private let failed = Self.pushes("failed")
    private let refused = Self.pushes("refused")
    private let removed = Self.pushes("removed")

    func count(_ outcome: PushOutcome) {
        switch outcome {
        case .sent: sent.increment()
        case .gone: removed.increment()
        case .refused: refused.increment()
        case .postponed: failed.increment()
        }
    }

    private static func pushes(_ result: String) -> Counter {
        Counter(label: "concord_pushes_total", dimensions: [("result", result)])
    }
}
