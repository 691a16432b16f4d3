import ContractClient
import DunbarClient
import Foundation
import GTSDClient
import MessengerClient
import Testbed
import Testing

/// A stock mail server receives each of the server's e-mails, and the codes in them work.
@Suite(.timeLimit(.minutes(30))) struct LettersTests {
    private let password = "Secret-123"
    private let new = "Other-Secret-1"

    private func concord(_ arguments: [String]) async throws -> String {
        let process = try ConcordProcess(arguments, environment: ["SUDO_USER": "anna"])
        let output = await process.wholeOutput()
        let status = await process.status()
        guard status == 0 else {
            throw ConcordProcess.Ended(status: status, errors: await process.standardError())
        }
        return output
    }

    private func withServer(
        _ apis: [String],
        _ body: (_ mail: StockMailServer, _ urls: [String: URL], _ data: [String]) async throws -> Void
    ) async throws {
        try await StockMailServer.serving { mail in
            try await withTemporaryFolder { folder in
                var (urls, ports): ([String: URL], [String]) = ([:], [])
                for api in apis {
                    let port = try await reservePort()
                    urls[api] = URL(string: "http://127.0.0.1:\(port)\(api == "dunbar" ? "/api" : "")")
                    ports += ["--port", "\(api)=\(port)"]
                }
                let data = ["--data", folder + "/data"]
                let server = try ConcordProcess(
                    ["serve"] + apis + ports + data
                        + ["--smtp", mail.url, "--mail-from", "us@example.com", "--reports-to", "ops@example.com"])
                try await server.waitUntilReady()
                try await body(mail, urls, data)
                server.signal(SIGTERM)
                #expect(await server.status() == 0)
            }
        }
    }

    @Test("Messenger's and GTSD's codes for passwords and addresses", StockMailServer.isThere)
    func codes() async throws {
        try await withServer(["messenger", "gtsd"]) { mail, urls, data in
            let client = MessengerClient(
                baseURL: try #require(urls["messenger"]), transport: .patient, retry: .never)
            try await client.send(
                Messenger.Register(username: "anna", email: "anna@example.com", password: password))
            let id = try await client.signIn(username: "anna", password: password)
            try await client.send(Messenger.ChangeEmail(email: "annas@example.com", password: password))
            let change = try await mail.letter("Confirm your email address", to: "annas@example.com")
            _ = try await mail.letter("Another email address for your account", to: "anna@example.com")
            try await client.send(Messenger.VerifyEmail(token: try #require(change.code)))
            try await client.send(Messenger.ForgotPassword(email: "annas@example.com"))
            let reset = try await mail.letter("Reset your password", to: "annas@example.com")
            try await client.send(
                Messenger.ResetPassword(token: try #require(reset.code), newPassword: new))
            try await client.signIn(username: "anna", password: new)
            _ = try await concord(
                ["people", "reset-code", "messenger", "\(id)", "--send"] + data)
            let help = try await mail.letter("Reset your password", to: "annas@example.com", number: 2)
            try await client.send(
                Messenger.ResetPassword(token: try #require(help.code), newPassword: password))
            try await client.signIn(username: "anna", password: password)

            let other = GTSDClient(baseURL: try #require(urls["gtsd"]), transport: .patient, retry: .never)
            try await other.signUp(email: "bert@example.com", password: password, name: "Bert")
            try await other.send(GTSD.ChangeEmail(email: "berts@example.com", password: password))
            let confirm = try await mail.letter("Confirm your email address", to: "berts@example.com")
            _ = try await mail.letter("Another email address for your account", to: "bert@example.com")
            try await other.send(GTSD.VerifyEmail(token: try #require(confirm.code)))
            try await other.send(GTSD.ForgotPassword(email: "berts@example.com"))
            let forgotten = try await mail.letter("Reset your password", to: "berts@example.com")
            try await other.send(GTSD.ResetPassword(token: try #require(forgotten.code), newPassword: new))
            try await other.signIn(email: "berts@example.com", password: new)
        }
    }

    @Test("Dunbar's links, and the letters about a report", StockMailServer.isThere)
    func linksAndReports() async throws {
        try await withServer(["dunbar"]) { mail, urls, data in
            let url = try #require(urls["dunbar"])
            var people: [String: (client: DunbarClient, id: Dunbar.User.ID)] = [:]
            for name in ["anna", "bert"] {
                let client = DunbarClient(
                    baseURL: url, store: MemoryCookieStore(), transport: .patient, retry: .never)
                let id = try await client.register(
                    .init(username: name, email: "\(name)@example.com", password: password, displayName: name)
                ).id
                let letter = try await mail.letter("Verify your email address", to: "\(name)@example.com")
                let token = try #require(letter.code?.split(separator: "/").last)
                try await client.send(Dunbar.VerifyEmail(token: "\(token)"))
                try await client.send(Dunbar.UpdateUser(id: id, isPrivate: false))
                people[name] = (client, id)
            }
            let (anna, bert) = (try #require(people["anna"]), try #require(people["bert"]))
            try await anna.client.send(Dunbar.ChangeEmail(email: "annas@example.com", password: password))
            let change = try await mail.letter("Verify your new email address", to: "annas@example.com")
            _ = try await mail.letter("Another email address for your account", to: "anna@example.com")
            let token = try #require(change.code?.split(separator: "/").last)
            try await anna.client.send(Dunbar.VerifyEmail(token: "\(token)"))
            try await anna.client.send(Dunbar.ForgotPassword(email: "annas@example.com"))
            let reset = try await mail.letter("Reset your password", to: "annas@example.com")
            try await anna.client.send(
                Dunbar.ResetPassword(token: try #require(reset.code), newPassword: new))
            try await anna.client.signIn(username: "anna", password: new)

            try await anna.client.send(Dunbar.ReportUser(user: bert.id, reason: .hateful))
            let news = try await mail.letter("New reports", to: "ops@example.com")
            #expect(news.text.contains("Dunbar: 1 new, 1 open"), "\(news.data)")
            _ = try await concord(["reports", "act", "dunbar", "1", "--warn", "--reason", "Be kind."] + data)
            let warning = try await mail.letter("A warning", to: "bert@example.com")
            #expect(warning.text.contains("Be kind."), "\(warning.data)")
            _ = try await mail.letter("Your report was acted on", to: "annas@example.com")
        }
    }
}
