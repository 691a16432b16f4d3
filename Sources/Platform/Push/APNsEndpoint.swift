import Foundation
import NIOSSL

/// The place of Apple's push service.
public struct APNsEndpoint: Sendable {
    /// Apple's own hosts.
    public static let apple = APNsEndpoint(
        production: "https://api.push.apple.com", sandbox: "https://api.sandbox.push.apple.com")

    private let production: String
    private let sandbox: String
    /// The file of the authority that has signed the certificate; nil for the system's authorities.
    public let authority: String?

    private init(production: String, sandbox: String, authority: String? = nil) {
        (self.production, self.sandbox, self.authority) = (production, sandbox, authority)
    }

    /// Makes the place of a stand-in, which serves both environments: `https://localhost:2197`, with `?ca=FILE` for a
    /// certificate that another authority has signed. It is nil for what is no such URL.
    public init?(standIn url: String) {
        guard var parts = URLComponents(string: url), parts.scheme?.lowercased() == "https",
            parts.host?.isEmpty == false, ["", "/"].contains(parts.path), parts.fragment == nil, parts.user == nil
        else { return nil }
        let items = parts.queryItems ?? []
        guard items.count <= 1, items.allSatisfy({ $0.name == "ca" && $0.value?.isEmpty == false }) else { return nil }
        parts.queryItems = nil
        parts.path = ""
        guard let base = parts.string else { return nil }
        self.init(production: base, sandbox: base, authority: items.first?.value)
    }

    /// Returns the URL for a device.
    func url(of device: PushDevice) -> String {
        (device.environment == .production ? production : sandbox) + "/3/device/" + device.token
    }

    var tls: TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        if let authority { tls.trustRoots = .file(authority) }
        return tls
    }
}
