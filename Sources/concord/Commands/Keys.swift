import ArgumentParser
import Backend
import Foundation
import Identity

/// The commands `concord keys …`.
struct Keys: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "List and replace the keys with which the server signs.",
        subcommands: [List.self, Rotate.self, DropFormer.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the keys: name, API, place, fingerprint, and the former key.",
            discussion: """
                A fingerprint identifies a key and reveals nothing about it. A key is 'missing' until the first start \
                generates it.
                """)

        @OptionGroup var listing: ListOptions

        @OptionGroup var data: DataOption

        func run() async throws {
            let environment = try data.environment()
            let folder = try data.folder(environment)
            for key in try ServerKey.all(in: folder, environment: environment.variables) {
                print(try listing.json ? JSONLine.encode(key) : key.text)
            }
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate",
            abstract: "Replace a key by a new one; what the former key has signed is still accepted.",
            discussion: """
                concord keys rotate messenger-tokens

                A running server signs with the new key at once; sessions and live sockets go on. When the former \
                key's tokens have expired, 'concord keys drop-former' ends their acceptance. A key that was stolen is \
                dropped at once: its tokens are then refused.

                A key of a variable, and one that several nodes share (PostgreSQL), is not changed: the steps that \
                give it to all nodes are printed.
                """)

        @Argument(help: "The key's name: \(Keys.names).")
        var name: String

        @Flag(help: "Confirm that this server is the only node on its PostgreSQL database.")
        var onlyNode = false

        @OptionGroup var place: DatabaseOptions

        func run() async throws {
            let (api, key) = try Keys.key(named: name)
            try await place.perform(RotateKey(key, isOnlyNode: onlyNode), on: api)
        }
    }

    struct DropFormer: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "drop-former", abstract: "Stop accepting what the former key has signed.",
            discussion: "A running server refuses it at once.")

        @Argument(help: "The key's name: \(Keys.names).")
        var name: String

        @OptionGroup var place: DatabaseOptions

        func run() async throws {
            let (api, key) = try Keys.key(named: name)
            try await place.perform(DropFormerKey(key), on: api)
        }
    }

    /// The names of the keys that can be replaced.
    fileprivate static let names = ConcordAPI.all.flatMap(\.hosted.keys).map(\.name)
        .joined(separator: ", ")

    /// Returns a key and its API.
    ///
    /// - Throws: `ValidationError` when there is no key of that name.
    fileprivate static func key(named name: String) throws -> (ConcordAPI, HostedKey) {
        for api in ConcordAPI.all {
            if let key = api.hosted.keys.first(where: { $0.name == name }) { return (api, key) }
        }
        throw ValidationError("There is no key '\(name)' that can be replaced. Known: \(names)")
    }
}

/// A key as `concord keys list` shows it.
private struct ServerKey: Encodable {
    let name: String
    let api: String
    /// The variable or the file that has the key; `missing` before the first start.
    let place: String
    let fingerprint: String?
    let formerFingerprint: String?
    let formerSince: String?

    static func all(in folder: String, environment: [String: String]) throws -> [ServerKey] {
        let secrets = SecretKeys(folder: folder, environment: environment)
        return try ConcordAPI.all.flatMap { api in
            try api.hosted.keys.map { try ServerKey($0, of: api.name, secrets, folder) }
        }
    }

    private init(_ key: HostedKey, of api: String, _ secrets: SecretKeys, _ folder: String) throws {
        name = key.name
        self.api = api
        let file = "\(folder)/keys/\(key.name)"
        let isThere = FileManager.default.fileExists(atPath: file)
        place = secrets.isFromVariable(key.variable) ? key.variable : isThere ? file : "missing"
        // Reading a key that is missing would create it.
        let prints = try place == "missing" ? nil : secrets.fingerprints(of: key)
        (fingerprint, formerFingerprint) = (prints?.present, prints?.former)
        formerSince = formerFingerprint == nil ? nil : secrets.rotationDate(of: key.name)
    }

    var text: String {
        let former = formerFingerprint.map { "\tformer \($0.prefix(12))" + (formerSince.map { " since \($0)" } ?? "") }
        return "\(name)\t\(api)\t\(place)\t\(fingerprint.map { "\($0.prefix(12))" } ?? "-")\(former ?? "")"
    }

    enum CodingKeys: String, CodingKey {
        case name, api, place, fingerprint
        case formerFingerprint = "former_fingerprint"
        case formerSince = "former_since"
    }
}
