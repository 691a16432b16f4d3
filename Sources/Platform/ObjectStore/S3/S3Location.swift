import Foundation

/// The place of objects on S3 or a compatible server: a bucket, and a folder in it.
public struct S3Location: Sendable, Equatable {
    /// The part of a URL that names the bucket.
    public enum Style: String, Sendable {
        /// `https://host/bucket/key`, which most other servers use.
        case path
        /// `https://bucket.host/key`, which AWS prefers.
        case virtual
    }

    /// The bucket's name.
    public let bucket: String
    /// The prefix of every key of the store on S3: empty, or ending in "/".
    public private(set) var prefix: String
    /// The region, which is part of every signature. Most other servers than AWS accept any.
    public let region: String
    /// The part of a URL that names the bucket.
    public let style: Style
    /// The seconds without an answer after which S3 counts as unreachable.
    public let patience: Int
    private let scheme: String
    /// The endpoint's host, with the port unless it is the scheme's default.
    private let authority: String

    /// Parses `s3://bucket[/folder][?endpoint=https://host[:port]&region=…&style=path|virtual&patience=4]`.
    ///
    /// Without an endpoint it is AWS, in the virtual style. With one, the defaults are the region `us-east-1` and the
    /// style `path`.
    public init(_ text: String) throws(S3SettingsError) {
        guard let url = URLComponents(string: text), url.scheme == "s3", let bucket = url.host, url.port == nil else {
            throw S3SettingsError(
                "Objects on S3 are given as s3://bucket or s3://bucket/folder, with ?endpoint=… &region=…")
        }
        guard url.user == nil, url.password == nil, url.fragment == nil else {
            throw S3SettingsError(
                "An s3:// location has no user, password or fragment: credentials are AWS_… variables")
        }
        guard Self.isBucketName(bucket) else {
            throw S3SettingsError("'\(bucket)' cannot name a bucket: 3 to 63 of a–z, 0–9, '-' and '.', as S3 has it")
        }
        let settings = try Self.settings(url.queryItems ?? [])
        let region = settings["region"] ?? "us-east-1"
        guard !region.isEmpty, region.utf8.allSatisfy({ $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }) else {
            throw S3SettingsError("'\(region)' cannot name a region: it is a word such as eu-central-1")
        }
        self.bucket = bucket
        self.prefix = try Self.prefix(url.path)
        self.region = region
        (scheme, authority) = try Self.endpoint(settings["endpoint"] ?? "https://s3.\(region).amazonaws.com")
        style = try Self.style(settings, bucket: bucket, scheme: scheme)
        guard let patience = Int(settings["patience"] ?? "4"), 1...300 ~= patience else {
            throw S3SettingsError("The patience of an s3:// location is 1 to 300 seconds")
        }
        self.patience = patience
    }

    /// Returns the folder `name` in this one. Stores that share a bucket need a folder each, because each treats the
    /// contents of its folder as its objects, and removes those to which nothing refers.
    public func folder(_ name: String) -> S3Location {
        precondition(ObjectKey(prefix + name) != nil, "a folder's name is the beginning of keys")
        var location = self
        location.prefix += name + "/"
        return location
    }

    // MARK: Requests

    /// The value of the header `Host`.
    var host: String { style == .path ? authority : "\(bucket).\(authority)" }

    var bucketPath: String { style == .path ? "/\(bucket)" : "/" }

    func path(of key: ObjectKey) -> String {
        (style == .path ? "/\(bucket)/" : "/") + prefix + key.rawValue
    }

    /// Returns the path of one of the store's own files, by a name of ``StoreNames``.
    func path(named name: String) -> String {
        (style == .path ? "/\(bucket)/" : "/") + prefix + name
    }

    /// Returns the name of an object as the source of a copy: with the bucket, in either style.
    func source(of key: ObjectKey) -> String { "/\(bucket)/" + prefix + key.rawValue }

    /// Returns the absolute URL of a request to this host.
    func url(of request: SignatureV4.Request, query: String) -> String {
        "\(scheme)://\(request.host)\(request.encodedPath)" + (query.isEmpty ? "" : "?\(query)")
    }
}

// MARK: - Reading

extension S3Location {
    private static func settings(_ items: [URLQueryItem]) throws(S3SettingsError) -> [String: String] {
        var settings: [String: String] = [:]
        for item in items {
            guard ["endpoint", "region", "style", "patience"].contains(item.name) else {
                throw S3SettingsError(
                    "'\(item.name)' is no setting of an s3:// location: endpoint, region, style and patience are")
            }
            guard settings.updateValue(item.value ?? "", forKey: item.name) == nil else {
                throw S3SettingsError("An s3:// location has \(item.name) twice")
            }
        }
        return settings
    }

    private static func prefix(_ path: String) throws(S3SettingsError) -> String {
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        let name = (folder.last == "" ? folder.dropLast() : folder).joined(separator: "/")
        guard !name.isEmpty else { return "" }
        // Keys on S3 have at most 1024 bytes, of which an `ObjectKey` may take 512.
        guard ObjectKey(name) != nil, name.utf8.count <= 255 else {
            throw S3SettingsError(
                "'\(name)' cannot be the folder in a bucket: letters, digits, '.', '_', '-' and '/' can")
        }
        return name + "/"
    }

    private static func endpoint(_ text: String) throws(S3SettingsError) -> (scheme: String, authority: String) {
        guard let url = URLComponents(string: text), let scheme = url.scheme?.lowercased(),
            let host = url.encodedHost?.lowercased(), !host.isEmpty, ["http", "https"].contains(scheme),
            ["", "/"].contains(url.path), url.user == nil, url.password == nil, url.query == nil, url.fragment == nil
        else {
            throw S3SettingsError("The endpoint of an s3:// location must be like https://host or http://host:9000")
        }
        guard let port = url.port, port != (scheme == "https" ? 443 : 80) else { return (scheme, host) }
        return (scheme, "\(host):\(port)")
    }

    /// Returns the style. A certificate for `*.host` does not cover a bucket with a dot in its name.
    private static func style(
        _ settings: [String: String], bucket: String, scheme: String
    ) throws(S3SettingsError) -> Style {
        let isCovered = scheme == "http" || !bucket.contains(".")
        guard let name = settings["style"] else { return settings["endpoint"] == nil && isCovered ? .virtual : .path }
        guard let style = Style(rawValue: name) else {
            throw S3SettingsError("'\(name)' is no style of an s3:// location: path and virtual are")
        }
        guard style == .path || isCovered else {
            throw S3SettingsError(
                "The bucket '\(bucket)' has a dot in its name, which https allows with style=path only")
        }
        return style
    }

    private static func isBucketName(_ name: String) -> Bool {
        let isAllowed = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                UInt8(ascii: "."):
                true
            default: false
            }
        }
        return 3...63 ~= name.utf8.count && isAllowed && !name.contains("..")
            && name.first != "-" && name.last != "-" && name.first != "." && name.last != "."
    }
}
