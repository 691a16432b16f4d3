import Backend
import Contract
import ContractServer
import Identity
import MonicaAPI

extension MonicaService {
    /// Draws initials in white on a square of a colour, and returns a JPEG. The colour is `RRGGBB` in hexadecimal. It throws an
    /// error when the drawer does not work, or when the account has too many pictures waiting.
    public typealias InitialsMaker =
        @Sendable (_ initials: String, _ colour: String, _ account: String) async throws -> [UInt8]

    /// Serves the pictures of contacts that have none of their own, to who has a link of this server's.
    func initials(_ routes: inout Routes<Monica, Caller>) {
        routes.serve(jpegsUnder: "/" + Initials.folder, cacheControl: FileServer.cacheControl) {
            [files, initialsMaker, drawnInitials] name, query in
            try files.admit("/\(Initials.folder)/\(name)", query)
            guard let shown = Initials(name: name) else { throw Problem(.notFound, Monica.errorMessages.notFound) }
            if let kept = drawnInitials.value(for: shown.picture) { return kept }
            let drawn = try await initialsMaker(shown.text, shown.colour, shown.account)
            drawnInitials.insert(drawn, for: shown.picture)
            return drawn
        }
    }
}

/// The picture of a contact that has none of its own: initials on a colour.
struct Initials {
    /// The folder of the URLs that show such pictures.
    static let folder = "initials"
    /// The number of pictures that are kept in memory, each of about 5 kB.
    static let kept = 512
    private static let maximumLength = 2

    let text: String
    /// The colour behind them, as `rrggbb` in hexadecimal.
    let colour: String
    /// The number of the account that is shown the picture.
    let account: String

    /// - Parameters:
    ///   - initials: A contact's initials, of which the first two are shown.
    ///   - colour: A colour such as `#fdb660`.
    init(_ initials: String, on colour: String, for account: AccountID) {
        // A character under a pile of accents is shown without them.
        let scalars = initials.prefix(Self.maximumLength).compactMap(\.unicodeScalars.first)
        text = String(String.UnicodeScalarView(scalars))
        self.colour = String(colour.drop { $0 == "#" })
        self.account = "\(account)"
    }

    /// Reads the last component of a URL that this server made.
    init?(name: String) {
        let parts = name.prefix { $0 != "." }.split(separator: "-", maxSplits: 2, omittingEmptySubsequences: false)
            .map(String.init)
        guard parts.count == 3, let bytes = Base64URL.decode(parts[2]) else { return nil }
        (account, colour, text) = (parts[0], parts[1], String(decoding: bytes, as: UTF8.self))
    }

    /// The key of the picture, which is the same for all accounts.
    var picture: String { colour + text }

    /// The path of the URL, without its first slash.
    var key: String { "\(Self.folder)/\(account)-\(colour)-\(Base64URL.encode(text.utf8)).jpg" }
}
