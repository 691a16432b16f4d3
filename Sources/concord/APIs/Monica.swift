import Backend
import Contract
import ContractServer
import Images
import MonicaAPI
import MonicaService

extension HostedMonica {
    /// Describes Monica as this program hosts it.
    ///
    /// - Parameter mail: The way of e-mails.
    init(mail: MailSettings = MailSettings()) {
        self.init(
            photos: { platform in
                let pictures = Pictures(Monica.self, on: platform)
                return { path, account in
                    let made = try await pictures.make { helper throws(ImageError) in
                        try await helper.rewritten(path, for: account).bytes
                    }
                    switch made {
                    case .picture(let bytes): return bytes
                    case .unreadable: return nil
                    case .tooLarge: throw MonicaService.PhotoTooLarge()
                    }
                }
            },
            initials: { platform in
                // An app asks for the pictures of a whole page of contacts at once.
                let pictures = Pictures(Monica.self, on: platform, queueLimit: 512, share: 100)
                return { text, colour, account in
                    let made = try await pictures.make { helper throws(ImageError) in
                        try await helper.initials(text, on: colour, edge: 250, for: account)
                    }
                    if case .picture(let bytes) = made { return bytes }
                    throw Problem(.serviceUnavailable, Monica.errorMessages.unavailable).retry(afterSeconds: 5)
                }
            },
            mailer: { mail.mailer(on: $0, of: Monica.name).mailer },
            startupWarnings: { await Pictures(Monica.self, on: $0).logStartupWarnings() })
    }
}
