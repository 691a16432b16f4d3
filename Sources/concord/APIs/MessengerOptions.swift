import ArgumentParser
import Backend
import Foundation
import MessengerAPI
import MessengerService
import Push

/// The options of Messenger alone, which notifies devices by Apple's push service.
struct MessengerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The key of Apple's push service, a .p8 file, with which devices are notified of messages. The variable "
                + "has the content of the file. [CONCORD_APNS_KEY, CONCORD_APNS_KEY_FILE] (default: none, devices are not "
                + "notified)",
            valueName: "file.p8"))
    var apnsKey: String?

    @Option(
        name: .customLong("apns-key-id"),
        help: ArgumentHelp("The id of that key. [CONCORD_APNS_KEY_ID]", valueName: "id"))
    var apnsKeyID: String?

    @Option(help: ArgumentHelp("The id of the team that has the key. [CONCORD_APNS_TEAM]", valueName: "id"))
    var apnsTeam: String?

    @Option(help: ArgumentHelp("The app's bundle id. [CONCORD_APNS_TOPIC]", valueName: "bundle id"))
    var apnsTopic: String?

    @Flag(
        name: .customLong("apns-ids-only"),
        help: """
            Notify with ids only: no text, no name of the sender or the group. The app reads the message itself. \
            [CONCORD_APNS_IDS_ONLY=1]
            """)
    var apnsIDsOnly = false

    @Option(
        name: .customLong("apns-url"),
        help: ArgumentHelp(
            "A stand-in for Apple's push service, for tests. ?ca=FILE trusts another authority. [CONCORD_APNS_URL] "
                + "(default: Apple's hosts)",
            valueName: "https://…"))
    var apnsURL: String?

    func hosted(_ environment: Environment, mail: MailSettings) throws -> HostedMessenger {
        var settings = MessengerService.Settings()
        settings.pushes = try pushes(environment)
        return HostedMessenger(settings: settings) { mail.mailer(on: $0, of: Messenger.name).mailer }
    }

    /// Returns nil when devices are not to be notified.
    private func pushes(_ environment: Environment) throws -> PushSettings? {
        let key = try environment.secret(file: apnsKey, of: "--apns-key", "CONCORD_APNS_KEY")
        let id = try environment.value(apnsKeyID, "CONCORD_APNS_KEY_ID", { $0 }, default: "")
        let team = try environment.value(apnsTeam, "CONCORD_APNS_TEAM", { $0 }, default: "")
        let topic = try environment.value(apnsTopic, "CONCORD_APNS_TOPIC", { $0 }, default: "")
        let isShort = try environment.value(
            apnsIDsOnly ? true : nil, "CONCORD_APNS_IDS_ONLY", { ["1": true, "0": false][$0] }, default: false)
        let url = try environment.value(apnsURL, "CONCORD_APNS_URL", { $0 }, default: "")
        let parts = [
            ("--apns-key", key), ("--apns-key-id", id), ("--apns-team", team), ("--apns-topic", topic),
        ]
        let missing = parts.filter(\.1.isEmpty).map(\.0)
        if missing.count == parts.count { return nil }
        guard missing.isEmpty else {
            let given = parts.filter { !$0.1.isEmpty }.map(\.0)
            let verb = given.count == 1 ? "needs" : "need"
            throw ValidationError(
                "\(given.joined(separator: ", ")) \(verb) \(missing.joined(separator: ", "))")
        }
        guard topic.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            throw ValidationError("--apns-topic must be a bundle id such as com.example.messenger")
        }
        let place = try url.isEmpty ? APNsEndpoint.apple : Self.standIn(url)
        do {
            let key = try APNsKey(pem: key, id: id, team: team)
            let client = APNsClient(key, topic: topic, at: place) { TimeSource.system.seconds }
            return PushSettings(client: client, showsText: !isShort)
        } catch {
            throw ValidationError("--apns-key cannot be used: \(error)")
        }
    }

    private static func standIn(_ url: String) throws -> APNsEndpoint {
        guard let endpoint = APNsEndpoint(standIn: url) else {
            throw ValidationError("--apns-url must be https://host:port, with ?ca=FILE or without, not '\(url)'")
        }
        if let authority = endpoint.authority, !FileManager.default.isReadableFile(atPath: authority) {
            throw ValidationError("--apns-url: the file \(authority) cannot be read")
        }
        return endpoint
    }
}
