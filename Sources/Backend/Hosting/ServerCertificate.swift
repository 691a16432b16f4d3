import CoreMetrics
import Foundation
import Logging
import NIOCertificateReloading
import NIOSSL
import ServiceLifecycle

/// The files of a server's certificate.
public struct CertificateFiles: Sendable, Hashable {
    /// The path of the certificate and its chain, in PEM.
    public var certificate: String
    /// The path of the private key, in PEM and without a passphrase.
    public var key: String

    public init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }
}

/// The error of certificate files with which the server cannot speak TLS.
public struct CertificateUnusable: Error, CustomStringConvertible {
    let files: CertificateFiles
    let reason: String
    public var description: String {
        "The certificate \(files.certificate) with the key \(files.key) cannot be used: \(reason)"
    }
}

/// The certificate that a server presents. Its files are read again every hour and on SIGHUP: new connections get what was
/// read last, and files that cannot be used leave the former certificate in force.
struct ServerCertificate: Service {
    private static let interval = Duration.seconds(3600)
    private let files: CertificateFiles
    private let reloader: TimedCertificateReloader

    /// - Throws: ``CertificateUnusable`` when the files cannot be read or do not belong together.
    init(_ files: CertificateFiles, logger: Logger) throws {
        self.files = files
        var configuration = TimedCertificateReloader.Configuration(
            refreshInterval: Self.interval,
            certificateSource: .init(location: .file(path: files.certificate), format: .pem),
            privateKeySource: .init(location: .file(path: files.key), format: .pem))
        do {
            _ = try TimedCertificateReloader.makeReloaderValidatingSources(configuration: configuration)
            let expiry = Gauge(label: "concord_certificate_expiry_timestamp_seconds")
            configuration.onCertificateLoaded = { change in
                let end = change.currentX509CertificateChain.first?.notValidAfter
                if let end { expiry.record(Int64(end.timeIntervalSince1970)) }
                // Only what changes after the start is logged.
                guard let former = change.previousX509CertificateChain,
                    former != change.currentX509CertificateChain
                else { return }
                logger.notice(
                    "new certificate",
                    metadata: ["path": "\(files.certificate)", "expires": "\(end?.ISO8601Format() ?? "unknown")"])
            }
            configuration.onCertificateLoadFailed = { failure in
                logger.error(
                    "the certificate cannot be used; the former one stays in force",
                    metadata: ["path": "\(files.certificate)", "error": "\(failure.error)"])
            }
            reloader = try TimedCertificateReloader.makeReloaderValidatingSources(configuration: configuration)
        } catch {
            throw CertificateUnusable(files: files, reason: "\(error)")
        }
    }

    /// Returns the settings of connections: TLS 1.2 or later, HTTP/1.1.
    ///
    /// - Throws: ``CertificateUnusable``.
    func configuration() throws -> TLSConfiguration {
        do {
            var configuration = try TLSConfiguration.makeServerConfiguration(certificateReloader: reloader)
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["http/1.1"]
            // A mistake in the files is found now and not by the first client.
            _ = try NIOSSLContext(configuration: configuration)
            return configuration
        } catch {
            throw CertificateUnusable(files: files, reason: "\(error)")
        }
    }

    /// Reads the files again. A failure is logged.
    func reload() { try? reloader.reload() }

    /// Reads the files again every hour, until the server stops.
    func run() async throws {
        try await reloader.run()
    }
}
