import Foundation
import Testbed
import Testing

/// `concord serve --tls-cert … --tls-key …`, and what a service manager sees.
@Suite(.timeLimit(.minutes(30))) struct CertificateTests {
    /// Makes a certificate for localhost that signs itself.
    private func make(_ name: String, in folder: String) async throws {
        let made = try await runShell(
            """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=\(name) \
              -addext subjectAltName=DNS:localhost -keyout '\(folder)/\(name).key' -out '\(folder)/\(name).pem'
            cp '\(folder)/\(name).pem' '\(folder)/certificate.pem' && cp '\(folder)/\(name).key' '\(folder)/key.pem'
            """)
        #expect(made.status == 0, "\(String(decoding: made.output, as: UTF8.self))")
    }

    private func health(_ folder: String, trusting name: String, port: Int) async throws -> (Int32, String) {
        try await StockTools.run(
            "/usr/bin/curl",
            ["-sS", "--cacert", "\(folder)/\(name).pem", "-w", " %{http_version}", "https://localhost:\(port)/health"])
    }

    @Test func theServerSpeaksTLSAndTakesANewCertificateOnSIGHUP() async throws {
        try await withTemporaryFolder { folder in
            try await make("first", in: folder)
            let port = try await reservePort()
            let server = try await ConcordProcess.serving(
                data: folder + "/data", port: port,
                more: ["--tls-cert", "\(folder)/certificate.pem", "--tls-key", "\(folder)/key.pem"])
            #expect(server.standardOutput.contains("https://127.0.0.1:\(port)\n"))
            let first = try await health(folder, trusting: "first", port: port)
            #expect(first.0 == 0)
            #expect(first.1.hasSuffix(" 1.1"), "\(first.1)")

            // Files that do not belong together change nothing.
            try await make("second", in: folder)
            let kept = try await runShell("cp '\(folder)/key.pem' '\(folder)/k' && echo nonsense > '\(folder)/key.pem'")
            #expect(kept.status == 0)
            server.signal(SIGHUP)
            try await server.waitForLog { $0.contains("the former one stays in force") }
            #expect(try await health(folder, trusting: "first", port: port).0 == 0)

            #expect(try await runShell("cp '\(folder)/k' '\(folder)/key.pem'").status == 0)
            server.signal(SIGHUP)
            try await server.waitForLog { $0.contains("new certificate") }
            #expect(try await health(folder, trusting: "second", port: port).0 == 0)
            #expect(try await health(folder, trusting: "first", port: port).0 != 0)

            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    /// Makes a certificate that expired yesterday, as certificate.pem.
    private func expire(_ folder: String) async throws {
        let made = try await runShell(
            """
            openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=old -keyout '\(folder)/key.pem' \
              -out '\(folder)/request'
            openssl x509 -req -in '\(folder)/request' -signkey '\(folder)/key.pem' -days -1 -out '\(folder)/certificate.pem'
            """)
        #expect(made.status == 0, "\(String(decoding: made.output, as: UTF8.self))")
    }

    @Test func anExpiredCertificateIsAnErrorAndReplacesNoGoodOne() async throws {
        try await withTemporaryFolder { folder in
            try await make("first", in: folder)
            let files = ["--tls-cert", "\(folder)/certificate.pem", "--tls-key", "\(folder)/key.pem"]
            let port = try await reservePort()
            let server = try await ConcordProcess.serving(data: folder + "/data", port: port, more: files)
            // A certificate of two days is near its end.
            let near = try ConcordProcess(
                ["config", "messenger", "--port", "messenger=0", "--data", folder + "/other"] + files)
            #expect(await near.wholeOutput().contains("certificate.pem expires in 1 days, on "))
            #expect(await near.status() == 1)

            try await expire(folder)
            server.signal(SIGHUP)
            try await server.waitForLog {
                $0.contains("it expired on ") && $0.contains("certificate=\"the former one\"")
            }
            #expect(try await health(folder, trusting: "first", port: port).0 == 0)
            server.signal(SIGTERM)
            #expect(await server.status() == 0)

            let config = try ConcordProcess(
                ["config", "messenger", "--port", "messenger=0", "--data", folder + "/other"] + files)
            #expect(await config.wholeOutput().contains("certificate.pem expired on "))
            #expect(await config.status() == 1)
            let second = try await ConcordProcess.serving(data: folder + "/data", port: port, more: files)
            try await second.waitForLog { $0.contains("error") && $0.contains("the certificate has expired") }
            second.signal(SIGTERM)
            #expect(await second.status() == 0)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "root may become another user"))
    func aKeyThatCannotBeReadIsSaidToBeSo() async throws {
        try await withTemporaryFolder { folder in
            try await make("first", in: folder)
            let made = try await runShell("chmod 755 '\(folder)' && chmod 644 '\(folder)/certificate.pem'")
            #expect(made.status == 0)
            let config = try ConcordProcess(
                [
                    "--reuid=65534", "--regid=65534", "--clear-groups", ConcordProcess.executable("concord").path,
                    "config",
                    "messenger", "--port", "messenger=0", "--data", "/nowhere", "--tls-cert",
                    "\(folder)/certificate.pem",
                    "--tls-key", "\(folder)/key.pem",
                ], executable: "/usr/bin/setpriv")
            let output = await config.wholeOutput()
            #expect(output.contains("key.pem cannot be read: Permission denied"), "\(output)")
        }
    }

    @Test func filesThatCannotBeUsedAreRefusedAtTheStart() async throws {
        try await withTemporaryFolder { folder in
            try await make("first", in: folder)
            try await make("second", in: folder)
            let cases = [
                ("first.pem", "second.key", "does not match"), ("missing.pem", "first.key", "missing.pem"),
                ("first.key", "first.pem", "cannot be used"),
            ]
            for (certificate, key, reason) in cases {
                let server = try ConcordProcess([
                    "serve", "messenger", "--data", "\(folder)/data", "--port", "messenger=0", "--tls-cert",
                    "\(folder)/\(certificate)", "--tls-key", "\(folder)/\(key)",
                ])
                #expect(await server.status() == 1)
                let errors = await server.standardError()
                #expect(errors.contains("cannot be used") && errors.contains(reason), "\(errors)")
            }
            let alone = try ConcordProcess(["serve", "--data", "\(folder)/data", "--tls-cert", "\(folder)/first.pem"])
            #expect(await alone.status() == 64)
            #expect(await alone.standardError().contains("--tls-cert and --tls-key are needed together"))
        }
    }

    /// systemd learns by datagrams when a unit of `Type=notify-reload` is ready, reloads and stops.
    @Test(.enabled(if: StockTools.python != nil, "`make test` sets CONCORD_PYTHON"))
    func theServiceManagerIsNotified() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/notify"
            let listener = try ConcordProcess(
                ["\(StockTools.package)/Tests/StockClient/notify.py", path], executable: try #require(StockTools.python)
            )
            try await listener.wait { $0.contains("listening") }
            let port = try await reservePort()
            let server = try await ConcordProcess.serving(
                data: folder + "/data", port: port, environment: ["NOTIFY_SOCKET": path])
            try await listener.wait { $0.contains("READY=1") }
            server.signal(SIGHUP)
            try await listener.wait {
                $0.contains("RELOADING=1 MONOTONIC_USEC=") && $0.components(separatedBy: "READY=1").count == 3
            }
            server.signal(SIGTERM)
            try await listener.wait { $0.contains("STOPPING=1") }
            #expect(await server.status() == 0)
            listener.signal(SIGTERM)
        }
    }
}

/// `concord health`.
@Suite(.timeLimit(.minutes(30))) struct HealthCommandTests {
    @Test func saysWhichServersAreReady() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let server = try await ConcordProcess.serving(data: folder, port: port)
            let url = "http://127.0.0.1:\(port)"
            let ready = try ConcordProcess(["health", url])
            #expect(await ready.status() == 0)
            #expect(await ready.wholeOutput() == "\(url)  ready\n")

            let nothing = "http://127.0.0.1:\(try await reservePort())"
            let mixed = try ConcordProcess(["health", url, nothing])
            #expect(await mixed.status() == 1)
            #expect(await mixed.wholeOutput() == "\(url)  ready\n\(nothing)  no answer: nothing listens there\n")

            let json = try ConcordProcess(["health", url, nothing, "--json"])
            #expect(
                await json.wholeOutput() == """
                    {"ready":true,"state":"ready","url":"\(url)"}
                    {"ready":false,"state":"no answer: nothing listens there","url":"\(nothing)"}

                    """)
            #expect(await json.status() == 1)

            let wrong = try ConcordProcess(["health", "localhost:80"])
            #expect(await wrong.status() == 64)
            #expect(await wrong.standardError().contains("'localhost:80' is no URL"))
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }
}
