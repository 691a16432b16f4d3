import Backend
import DunbarAPI
import DunbarService
import Images
import Mail

/// The settings that only Dunbar has.
struct DunbarSettings: Sendable {
    /// The origins of other sites whose pages may make changes.
    var origins: [String] = []
    /// The mail server that accepts e-mails; nil writes them into a folder.
    var mailServer: SMTPServer?
    /// The sender's address of e-mails.
    var sender = "concord@localhost"

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
            mailer: { mailer(on: $0).mailer },
            startupWarnings: { platform in
                platform.logger.info("e-mails are delivered", metadata: ["to": "\(mailer(on: platform).place)"])
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

    /// Returns the mailer, and the destination of e-mails for the log.
    private func mailer(on platform: Platform) -> (mailer: any Mailer, place: String) {
        let now: @Sendable () -> Int64 = { [time = platform.time] in time.seconds }
        if let server = mailServer {
            return (
                SMTPMailer(server, from: sender, group: platform.group, now: now), "\(server.host):\(server.port)"
            )
        }
        let path = "\(platform.folder)/mail/\(Dunbar.name)"
        return (MailboxFolder(path: path, from: sender, now: now), path)
    }
}
