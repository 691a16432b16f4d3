import CoreMetrics
import Foundation
import Logging
import NIOCertificateReloading
import NIOConcurrencyHelpers
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
    private let logger: Logger
    private let now: @Sendable () -> Date
    /// The time at which the certificate in force expires.
    private let inForce: NIOLockedValueBox<Date>

    /// - Throws: ``CertificateUnusable`` when the files cannot be read or do not belong together.
    init(_ files: CertificateFiles, logger: Logger, now: @escaping @Sendable () -> Date = { Date() }) throws {
        self.files = files
        self.logger = logger
        self.now = now
        let expiry = try Self.expiry(of: files)
        inForce = NIOLockedValueBox(expiry)
        if expiry <= now() {
            logger.error(
                "the certificate has expired: clients refuse it until it is renewed",
                metadata: ["path": "\(files.certificate)", "expired": "\(expiry.ISO8601Format())"])
        }
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

    /// Reads the files again. A failure is logged, and so is a certificate that has expired while the one in force has not:
    /// both leave the former one in force.
    ///
    /// - Returns: Whether the certificate of the files is in force now.
    @discardableResult
    func reload() -> Bool {
        do {
            let expiry = try Self.expiry(of: files)
            let former = inForce.withLockedValue { $0 }
            guard expiry > now() || former <= now() else {
                throw CertificateUnusable(files: files, reason: "it expired on \(expiry.ISO8601Format())")
            }
            try reloader.reload()
            inForce.withLockedValue { $0 = expiry }
            return true
        } catch let error as CertificateUnusable {
            logger.error(
                "the certificate cannot be used; the former one stays in force",
                metadata: ["path": "\(files.certificate)", "error": "\(error.reason)"])
        } catch {
            // The reloader has logged it.
        }
        return false
    }

    /// Reads the files again every hour, until the server stops.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            while true {
                do { try await Task.sleep(for: Self.interval) } catch { return }
                reload()
            }
        }
    }

    // MARK: Expiry

    /// The time before the end of a certificate from which on `concord config` calls it a problem.
    private static let notice: TimeInterval = 14 * 24 * 3600

    /// Returns the time at which the certificate of the files expires.
    ///
    /// - Throws: ``CertificateUnusable`` with the reason why a file cannot be read.
    static func expiry(of files: CertificateFiles) throws -> Date {
        for path in [files.certificate, files.key] {
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else {
                let code = errno
                let reason = String(cString: strerror(code))
                throw CertificateUnusable(
                    files: files,
                    reason: code == ENOENT ? "there is no file \(path)" : "\(path) cannot be read: \(reason)")
            }
            close(descriptor)
        }
        do {
            guard let leaf = try NIOSSLCertificate.fromPEMFile(files.certificate).first else {
                throw CertificateUnusable(files: files, reason: "\(files.certificate) has no certificate")
            }
            return Date(timeIntervalSince1970: TimeInterval(leaf.notValidAfter))
        } catch let error as CertificateUnusable {
            throw error
        } catch {
            throw CertificateUnusable(files: files, reason: "\(files.certificate) is not a certificate in PEM")
        }
    }

    /// Returns what is wrong with the end of a certificate, in a sentence for the operator: it has come, or is near.
    static func expiryProblem(_ files: CertificateFiles, now: Date) throws -> String? {
        let expiry = try expiry(of: files)
        let day = expiry.formatted(.iso8601.year().month().day())
        if expiry <= now { return "The certificate \(files.certificate) expired on \(day): clients refuse it" }
        let days = Int(expiry.timeIntervalSince(now) / 86_400)
        guard expiry.timeIntervalSince(now) < notice else { return nil }
        return "The certificate \(files.certificate) expires in \(days) days, on \(day): renew it"
    }
}
