import Backend
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
            mailer: { mail.mailer(on: $0, of: Monica.name).mailer },
            startupWarnings: { await Pictures(Monica.self, on: $0).logStartupWarnings() })
    }
}
