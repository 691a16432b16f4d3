import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(30))) struct CheckerTests {
    @Test func everyClauseGetsAVerdictInTheOrderOfTheList() async {
        let list = Checklist.plain([
            Scenario("holds", clause: "A") { _ in },
            Scenario("does not", clause: "B") { _ in throw CheckFailure("because") },
            Scenario("holds too", clause: "A") { _ in },
            Scenario("is added", clause: "C", level: .addition) { _ in },
            Scenario("is written", clause: "B", level: .contract) { _ in },
        ])
        let all = await Checker(list).run(list.items, on: .scripted())
        #expect(all.clauses.map(\.clause) == ["A", "B", "C"])
        #expect(all.clauses.map(\.outcome) == [.passed, .failed, .passed])
        #expect((all.passed, all.failed, all.skipped) == (4, 1, 0))
        #expect(all.scenarios[1].failure?.message == "because")
        #expect(all.scenarios[1].failure?.place?.contains("CheckerTests.swift:") == true)

        let contract = await Checker(list).run(list.items, on: .scripted(level: .contract))
        #expect(contract.scenarios.map(\.outcome) == [.skipped, .skipped, .skipped, .skipped, .passed])
    }

    @Test func afterAFailureNoScenarioBeginsIfAsked() async {
        let list = Checklist.plain([
            Scenario("holds", clause: "A") { _ in },
            Scenario("does not", clause: "B") { _ in throw CheckFailure("because") },
            Scenario("is not begun", clause: "C") { _ in },
        ])
        let report = await Checker(list, parallel: 1, failsFast: true).run(list.items, on: .scripted())
        #expect(report.scenarios.map(\.outcome) == [.passed, .failed, .skipped])
        #expect(report.scenarios.last?.reason == "another scenario had failed" && report.ended == nil)
    }

    @Test func skippedScenariosHaveAReason() async {
        let list = Checklist.plain([
            Scenario("needs more", clause: "A") { _ in throw Skipped("it needs more people") },
            Scenario("holds", clause: "B") { _ in },
        ])
        let report = await Checker(list).run(list.items, on: .scripted())
        #expect(report.scenarios.map(\.outcome) == [.skipped, .passed])
        #expect(report.scenarios.map(\.reason) == ["it needs more people", nil])
        #expect((report.passed, report.failed, report.skipped) == (1, 0, 1))
    }

    /// A report may be read by more people than those who may use the token.
    @Test func aReportShowsNoTokenThatTheRunWasGiven() async {
        let tokens = ["first-given-token", "second-given-token"]
        let list = Checklist(
            api: "test",
            scenarios: [
                Scenario("fails", clause: "A") { server in
                    let client = RawClient(baseURL: server.baseURL, transport: server.transport)
                    let answer = try await client.send(.get, "/me", token: tokens[1])
                    throw CheckFailure("because", in: answer.exchange)
                }
            ], probe: "/probe", tokens: tokens, isLimited: { _ in false },
            enter: { (server: Server) in (server, { [:] }) })
        let report = await Checker(list).run(list.items, on: .scripted())
        #expect(!report.json.contains(tokens[1]))
        #expect(
            report.scenarios[0].failure?.reproduce == [
                #": "${TOKEN_2:?must be number 2 of the --token}""#,
                #"curl -sSi http://test/me -H 'Authorization: Bearer '"$TOKEN_2""#, "# 401 {}",
            ])
    }

    @Test(arguments: [1, 3, 16])
    func resultsAreInTheListsOrder(_ parallel: Int) async {
        // Each scenario waits for the next one, as far as they run at the same time.
        let gates = (0...16).map { _ in Gate() }
        let list = Checklist.plain(
            (0..<16).map { index in
                Scenario("\(index)", clause: "\(index % 4)") { _ in
                    if index % parallel != parallel - 1, index < 15 { await gates[index + 1].wait() }
                    await gates[index].open()
                }
            })
        let told = NIOLockedValueBox<[String]>([])
        let report = await Checker(list, parallel: parallel).run(list.items, on: .scripted()) { progress in
            if case .finished(let verdict, let number, let count) = progress {
                told.withLockedValue { $0.append("\(number)/\(count) \(verdict.name)") }
            }
        }
        #expect(report.scenarios.map(\.name) == (0..<16).map(String.init))
        #expect(told.withLockedValue { $0 } == (0..<16).map { "\($0 + 1)/16 \($0)" })
    }

    @Test func aScenarioThatWaitsForeverIsEnded() async {
        let left = NIOLockedValueBox(0)
        let list = Checklist.plain(
            [Scenario("waits", clause: "A") { _ in while true { try await Task.sleep(for: .seconds(3600)) } }],
            cleanUp: {
                left.withLockedValue { $0 += 1 }
                return ["users": 2]
            })
        let report = await Checker(list, limit: .milliseconds(5)).run(list.items, on: .scripted())
        #expect(report.scenarios[0].failure?.message == "no end within 0.005 seconds")
        #expect(left.withLockedValue { $0 } == 1)
        #expect(report.leftBehind == ["users": 2])
    }

    @Test func waitsForTheServersLimitDoNotCount() async {
        // The first three requests are refused at once.
        let requests = NIOLockedValueBox(0)
        let server = Server.scripted { request in
            guard request.url.path == "/limited" else { return .json(401, "{}") }
            let number = requests.withLockedValue { count in
                count += 1
                return count
            }
            return number <= 3 ? .json(429, "{}", headers: [.retryAfter: "60"]) : .json(201, "{}")
        }
        let list = Checklist.plain([
            Scenario("registers", clause: "A") { server in
                let answers = try await together(3) { _ in try await server.get("/limited").status }
                try expect(answers, equals: [201, 201, 201])
            }
        ])
        let (waits, ends) = (NIOLockedValueBox<[Int]>([]), NIOLockedValueBox<[ContinuousClock.Instant]>([]))
        let begun = ContinuousClock.now
        let checker = Checker(
            list,
            sleep: { until in
                ends.withLockedValue { $0.append(until) }
                try await Task.sleep(for: .milliseconds(200))
            })
        let report = await checker.run(list.items, on: server) { progress in
            if case .waiting(let seconds) = progress { waits.withLockedValue { $0.append(seconds) } }
        }
        #expect(report.failed == 0, "\(report.text)")
        #expect(report.seconds - report.scenarios[0].seconds >= 0.2)
        // Each moment is reported once, even if several scenarios wait for it. There is one moment, unless the machine
        // is so busy that the refusals are more than a second apart.
        let moments = ends.withLockedValue { Set($0) }
        #expect(waits.withLockedValue { $0 } == moments.map { _ in 60 })
        #expect(!moments.isEmpty && ends.withLockedValue { $0 }.count == 3)
        #expect(moments.allSatisfy { $0 >= begun + .seconds(60) && $0 <= .now + .seconds(60) })
    }

    /// The clean-up after the run may be late enough; otherwise it waits as long as the server asks.
    @Test(arguments: [0, 1, 2])
    func refusedCleanUpIsRepeatedInTheEnd(_ refusals: Int) async {
        let (attempts, slept) = (NIOLockedValueBox(0), NIOLockedValueBox(0))
        let list = Checklist.plain(
            [Scenario("locks an account", clause: "A") { _ in }, Scenario("goes on", clause: "A") { _ in }],
            cleanUp: {
                let attempt = attempts.withLockedValue { count in
                    count += 1
                    return count
                }
                // The second attempt belongs to the second scenario.
                guard attempt != 2 else { return ["chats": 3] }
                let refused = attempt == 1 ? refusals > 0 : attempt - 2 < refusals
                return refused ? .init(["users": 1], retryAfter: 30) : [:]
            })
        let checker = Checker(
            list, parallel: 1, sleep: { _ in slept.withLockedValue { $0 += 1 } })
        let waits = NIOLockedValueBox<[Int]>([])
        let report = await checker.run(list.items, on: .scripted()) { progress in
            if case .waiting(let seconds) = progress { waits.withLockedValue { $0.append(seconds) } }
        }
        #expect(report.leftBehind == ["chats": 3])
        #expect(waits.withLockedValue { $0 } == (refusals == 2 ? [30] : []))
        #expect(slept.withLockedValue { $0 } == (refusals == 2 ? 1 : 0))
        #expect(attempts.withLockedValue { $0 } == 2 + refusals)
    }

    @Test func remainingDataIsCounted() async {
        let list = Checklist.plain(
            [Scenario("locks an account", clause: "A") { _ in }],
            cleanUp: { .init(["users": 1], retryAfter: 30) })
        let report = await Checker(list, sleep: { _ in }).run(list.items, on: .scripted())
        #expect(report.leftBehind == ["users": 1])
    }

    @Test(arguments: [[:], [.retryAfter: "soon"], [.retryAfter: "86400"]] as [HTTPFields])
    func aRefusalWithoutAValidTimeIsLeftToTheScenario(_ headers: HTTPFields) async {
        let list = Checklist.plain([
            Scenario("registers", clause: "A") { server in
                try expect(try await server.get("/limited").status, equals: 429)
            }
        ])
        let server = Server.scripted { _ in .json(429, "{}", headers: headers) }
        #expect(await Checker(list).run(list.items, on: server).passed == 1)
    }

    @Test func aServerThatStopsEndsTheRun() async {
        let requests = NIOLockedValueBox(0)
        let server = Server.scripted { _ in
            let number = requests.withLockedValue { count in
                count += 1
                return count
            }
            if number > 2 { throw URLError(.cannotConnectToHost) }
            return .json(401, "{}")
        }
        let list = Checklist.plain(
            (0..<5).map { index in
                Scenario("\(index)", clause: "A") { server in _ = try await server.get("/") }
            })
        let report = await Checker(list, parallel: 1).run(list.items, on: server)
        #expect(report.scenarios.map(\.outcome) == [.passed, .passed, .failed, .skipped, .skipped])
        #expect(report.ended == "No answer from http://test: nothing listens there")
        #expect(report.scenarios[4].reason == report.ended)
    }

    /// A server that breaks a connection is still there.
    @Test func aBrokenConnectionDoesNotEndTheRun() async {
        let probes = NIOLockedValueBox(0)
        let server = Server.scripted { request in
            guard request.url.path == "/probe" else { throw URLError(.networkConnectionLost) }
            let number = probes.withLockedValue { count in
                count += 1
                return count
            }
            if number % 3 > 0 { throw URLError(.networkConnectionLost) }
            return .json(401, "{}")
        }
        let list = Checklist.plain(
            (0..<3).map { index in
                Scenario("\(index)", clause: "A") { server in _ = try await server.get("/") }
            })
        let report = await Checker(list, parallel: 1).run(list.items, on: server)
        #expect(report.scenarios.map(\.outcome) == [.failed, .failed, .failed] && report.ended == nil)
    }

    @Test func anInterruptedRunStillCleansUp() async {
        let (started, continuation) = AsyncStream<Void>.makeStream()
        let left = NIOLockedValueBox(0)
        let list = Checklist.plain(
            [
                Scenario("passes", clause: "A") { _ in },
                Scenario("waits", clause: "A") { _ in
                    continuation.yield()
                    try await Task.sleep(for: .seconds(3600))
                },
                Scenario("is not begun", clause: "B") { _ in },
            ],
            cleanUp: {
                left.withLockedValue { $0 += Task.isCancelled ? 100 : 1 }
                return [:]
            })
        let run = Task { await Checker(list, parallel: 1).run(list.items, on: .scripted()) }
        for await _ in started { break }
        run.cancel()
        let report = await run.value
        #expect(report.scenarios.map(\.outcome) == [.passed, .skipped, .skipped])
        #expect(report.ended == "interrupted")
        #expect(left.withLockedValue { $0 } == 2)
    }

    /// The report comes while cleaning up still waits for the server. Cleaning up is cancelled after a while.
    @Test func anInterruptedRunReportsBeforeItCleansUp() async {
        let (cleaning, isCleaning) = AsyncStream<Void>.makeStream()
        let (reported, reports) = AsyncStream<Report>.makeStream()
        let list = Checklist.plain(
            [
                Scenario("passes", clause: "A") { _ in },
                Scenario("is cleaned up", clause: "A") { _ in },
                Scenario("is not begun", clause: "B") { _ in },
            ],
            cleanUp: {
                isCleaning.yield()
                do { try await Task.sleep(for: .seconds(36_000)) } catch {}
                return ["users": 1]
            })
        let run = Task {
            await Checker(list, parallel: 2).run(list.items, on: .scripted()) { progress in
                if case .interrupted(let report) = progress { reports.yield(report) }
            }
        }
        var begun = 0
        for await _ in cleaning {
            begun += 1
            if begun == 2 { break }
        }
        run.cancel()
        for await report in reported {
            #expect(report.ended == "interrupted" && report.leftBehind.isEmpty)
            #expect(report.scenarios.map(\.outcome) == [.skipped, .skipped, .skipped])
            break
        }
        let report = await run.value
        #expect(report.scenarios.map(\.outcome) == [.passed, .passed, .skipped])
        #expect(report.leftBehind == ["users": 2])
    }

    @Test func patternsAreLookedForInNamesAndClauses() {
        let list = Checklist.plain([
            Scenario("Signing in", clause: "POST /login") { _ in },
            Scenario("A (very) odd one", clause: "GET /me") { _ in },
            Scenario("Signing out", clause: "POST /logout") { _ in },
        ])
        #expect(list.items(matching: []).count == 3)
        #expect(list.items(matching: ["SIGNING"]).map(\.name) == ["Signing in", "Signing out"])
        #expect(list.items(matching: ["get /me", "logout"]).map(\.clause) == ["GET /me", "POST /logout"])
        #expect(list.items(matching: ["(very)"]).count == 1)
        #expect(list.items(matching: ["nothing"]).isEmpty)
    }

    // MARK: Existence

    @Test(
        arguments: [
            (.json(401, "{}"), nil), (.json(500, "{}"), nil), (.json(200, "{}"), nil),
            (
                .json(404, "{}"),
                "http://test answers, but not as test does: GET /probe is 404. Is it the base URL of the API?"
            ),
            (
                TransportResponse(status: .ok, headers: [.contentType: "text/html"]),
                "http://test answers, but not as test does: GET /probe is 200. Is it the base URL of the API?"
            ),
            (.json(503, "{}"), "http://test is not ready: it answers 503"),
        ] as [(TransportResponse, String?)])
    func otherServersAreRecognised(_ response: TransportResponse, _ words: String?) async {
        let checker = Checker(Checklist.plain([]))
        do {
            try await checker.reach(.scripted { _ in response })
            #expect(words == nil)
        } catch {
            #expect("\(error)" == words)
        }
    }
}

/// A gate that lets waiting tasks pass once it is open.
private actor Gate {
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func open() {
        isOpen = true
        for continuation in waiting { continuation.resume() }
        waiting = []
    }

    func wait() async {
        if !isOpen { await withCheckedContinuation { waiting.append($0) } }
    }
}
