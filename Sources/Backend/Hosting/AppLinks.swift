import Contract
import ContractServer
import Foundation
import Identity

/// The apps that open an API's links on Apple's systems (universal links).
public struct AppLinks: Sendable, Hashable {
    /// The ids of the apps, each the team's id, a dot and the bundle's id.
    public var appIDs: [String]

    /// - Parameter appIDs: One or more.
    public init(appIDs: [String]) { self.appIDs = appIDs }

    /// Returns whether a text has the form of an app's id: `ABCDE12345.com.example.app`.
    public static func isAppID(_ text: String) -> Bool {
        text.wholeMatch(of: #/[A-Z0-9]+(\.[A-Za-z0-9-]+)+/#) != nil
    }

    /// The path at which Apple asks for ``association(of:under:)``.
    static let path = "/.well-known/apple-app-site-association"

    /// Returns the file that says which links the apps open.
    ///
    /// The first entry serves iOS 13 and later, which know all apps by it; each entry has one app for systems before.
    ///
    /// - Parameters:
    ///   - paths: The paths of the links; an asterisk stands for any text.
    ///   - publicURL: The beginning of the links.
    func association(of paths: [String], under publicURL: String) -> [UInt8] {
        struct Entry: Encodable {
            struct Component: Encodable {
                let path: String
                enum CodingKeys: String, CodingKey { case path = "/" }
            }

            let appIDs: [String]?
            let components: [Component]?
            let appID: String
            let paths: [String]
        }
        struct Links: Encodable {
            let apps: [String] = []
            let details: [Entry]
        }
        let prefix = URLComponents(string: publicURL)?.path ?? ""
        let paths = paths.map { prefix + $0 }
        let entries = appIDs.enumerated().map { index, id in
            Entry(
                appIDs: index == 0 ? appIDs : nil, components: index == 0 ? paths.map(Entry.Component.init) : nil,
                appID: id, paths: paths)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(["applinks": Links(details: entries)])).map(Array.init) ?? []
    }
}

extension HostedAPI {
    /// The documents of the API's links; none where no app opens them.
    func linkDocuments(on platform: Platform) -> [ServedDocument] {
        guard let links = platform.appLinks, !linkPaths.isEmpty else { return [] }
        return [
            ServedDocument(AppLinks.path) { [linkPaths, url = platform.publicURL] in
                links.association(of: linkPaths, under: url)
            }
        ]
    }
}
