import Backend
import DunbarAPI
import DunbarService
import Images

/// The settings that only Dunbar has.
struct DunbarSettings: Sendable {
    /// The origins of other sites whose pages may make changes.
    var origins: [String] = []
    /// The way of e-mails.
    var mail = MailSettings()

    var hosted: HostedDunbar {
        HostedDunbar(
            settings: { publicURL in
                var settings = DunbarService.Settings(publicURL: publicURL)
                settings.origins = origins
                return settings
            },
            images: { platform in
                let pictures = Self.pictures(on: platform)
                return { path, use, user in
                    let made = try await pictures.make { helper throws(ImageError) in
                        switch use {
                        case .profile: try await helper.jpeg(of: path, .fit(within: 1024), for: "\(user)")
                        case .post: try await helper.rewritten(path, for: "\(user)").bytes
                        }
                    }
                    switch made {
                    case .picture(let bytes): return bytes
                    case .unreadable: return nil
                    case .tooLarge: throw ImageTooLarge()
                    }
                }
            },
            mailer: { mail.mailer(on: $0, of: Dunbar.name).mailer },
            startupWarnings: { platform in
                let place = mail.mailer(on: platform, of: Dunbar.name).place
                platform.logger.info("e-mails are delivered", metadata: ["to": "\(place)"])
                await Self.pictures(on: platform).logStartupWarnings()
            })
    }

    private static func pictures(on platform: Platform) -> Pictures {
        var limits = Thumbnailer.PixelLimits()
        limits.photos = ImageTooLarge.megapixels(of: .jpeg) * 1_000_000
        limits.webp = ImageTooLarge.megapixels(of: .webp) * 1_000_000
        limits.others = ImageTooLarge.megapixels(of: .png) * 1_000_000
        return Pictures(Dunbar.self, on: platform, limits: limits)
    }
}
