import Foundation
import NIOConcurrencyHelpers
import Testbed
import Testing

@testable import Database

/// A request that waits too long for the database is refused; one that has begun never is.
@Suite(.timeLimit(.minutes(30))) struct DatabaseTurnTests {
    private static let schema = Schema("notes", [.init("notes", ["CREATE TABLE notes (text TEXT NOT NULL)"])])

    /// A clock that a test moves.
    private final class Clock: Sendable {
        private let now = NIOLockedValueBox(Duration.seconds(1000))
        func advance(_ duration: Duration) { now.withLockedValue { $0 += duration } }
        var waiting: QueueLimits {
            var waiting = QueueLimits()
            waiting.clock = { self.now.withLockedValue { $0 } }
            // Writes run one at a time, as reads do.
            waiting.together = 1
            return waiting
        }
    }

    /// A gate that keeps a thread of the engine busy until it is opened.
    private final class Gate: Sendable {
        private let opened = DispatchSemaphore(value: 0)
        private let entered = NIOLockedValueBox(false)

        func pass() {
            entered.withLockedValue { $0 = true }
            opened.wait()
        }
        func open() { opened.signal() }
        func isEntered() async throws {
            while !entered.withLockedValue({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
        }
    }

    enum Kind: CaseIterable { case read, write }

    private func withDatabase(
        _ engine: Stack.Engine, _ waiting: QueueLimits, _ body: (Database) async throws -> Void
    ) async throws {
        try await withTestDatabase(on: engine) { place in
            // There is one thread for reads, so further reads wait in a queue.
            let database =
                if let url = place.url {
                    try Database.postgreSQL(url: url, schema: Self.schema, connections: 1, waiting: waiting)
                } else {
                    try Database.sqlite(
                        path: "\(place.folder)/notes.sqlite", schema: Self.schema, readers: 1, waiting: waiting)
                }
            try await body(database)
            try await database.close()
        }
    }

    /// Starts a request that has to wait in the queue, and returns once it waits.
    private func wait(
        _ kind: Kind, on database: Database, behind count: Int, isPatient: Bool = false, _ text: String,
        gate: Gate? = nil
    ) async throws -> Task<Void, any Error> {
        let task = Task {
            let body = { @Sendable (db: Session) throws in
                gate?.pass()
                if kind == .write { try db.run("INSERT INTO notes VALUES (\(text))") }
            }
            let run = { @Sendable in
                if kind == .write { try await database.write(body) } else { try await database.read(body) }
            }
            if isPatient { try await QueueLimits.withoutLimit(run) } else { try await run() }
        }
        if let gate, count == 0 {
            try await gate.isEntered()
        } else {
            while database.waitingCount <= count - 1 { try await Task.sleep(for: .milliseconds(1)) }
        }
        return task
    }

    @Test(arguments: Stack.Engine.available, Kind.allCases)
    func aStalledQueueRefusesRequestsThatWaitedTooLong(_ engine: Stack.Engine, _ kind: Kind) async throws {
        let clock = Clock()
        try await withDatabase(engine, clock.waiting) { database in
            let (first, second) = (Gate(), Gate())
            let begun = try await wait(kind, on: database, behind: 0, "first", gate: first)
            let slow = try await wait(kind, on: database, behind: 1, "second", gate: second)
            let late = try await wait(kind, on: database, behind: 2, "late")
            clock.advance(.seconds(3))
            first.open()
            // A single delay refuses no request: it gets its turn, which takes long, too.
            try await second.isEntered()
            let patient = try await wait(kind, on: database, behind: 2, isPatient: true, "patient")
            clock.advance(.seconds(3))
            let fresh = try await wait(kind, on: database, behind: 3, "fresh")
            second.open()
            await #expect(throws: DatabaseFailure.self) { try await late.value }
            for task in [begun, slow, patient, fresh] { try await task.value }
            let texts = try await database.read { db in
                try db.all("SELECT text FROM notes") { try $0.get(0, as: String.self) }
            }
            #expect(texts == (kind == .write ? ["first", "second", "patient", "fresh"] : []))
        }
    }

    @Test(arguments: Stack.Engine.available, Kind.allCases)
    func cancelledRequestsAreNotServedAndRunningOnesAre(_ engine: Stack.Engine, _ kind: Kind) async throws {
        try await withDatabase(engine, .patient) { database in
            let gate = Gate()
            let begun = try await wait(kind, on: database, behind: 0, "begun", gate: gate)
            let ran = NIOLockedValueBox(false)
            let gone = Task {
                let body = { @Sendable (_: Session) throws in ran.withLockedValue { $0 = true } }
                if kind == .write { try await database.write(body) } else { try await database.read(body) }
            }
            while database.waitingCount < 1 { try await Task.sleep(for: .milliseconds(1)) }
            gone.cancel()
            await #expect(throws: CancellationError.self) { try await gone.value }
            begun.cancel()
            gate.open()
            try await begun.value
            try await database.write { try $0.run("INSERT INTO notes VALUES ('after')") }
            #expect(!ran.withLockedValue { $0 })
        }
    }

    @Test(arguments: Stack.Engine.available, Kind.allCases)
    func theQueueIsBoundedAndEndsWithTheServer(_ engine: Stack.Engine, _ kind: Kind) async throws {
        var waiting = QueueLimits.patient
        waiting.places = 2
        try await withDatabase(engine, waiting) { database in
            let gate = Gate()
            let begun = try await wait(kind, on: database, behind: 0, "begun", gate: gate)
            let waits = [
                try await wait(kind, on: database, behind: 1, "1"), try await wait(kind, on: database, behind: 2, "2"),
            ]
            let outcome = Task {
                let body = { @Sendable (_: Session) throws in }
                if kind == .write { try await database.write(body) } else { try await database.read(body) }
            }
            await #expect(throws: DatabaseFailure.self) { try await outcome.value }
            database.refuseAll()
            for task in waits { await #expect(throws: DatabaseFailure.self) { try await task.value } }
            gate.open()
            _ = await begun.result
        }
    }

    @Test func aStandstillRefusesRequestsThatWaitedThroughout() {
        let clock = Clock()
        var line = WaitingQueue<Int>(clock.waiting)
        #expect(line.add(1, isPatient: false) == [])
        clock.advance(.seconds(6))
        #expect(line.add(2, isPatient: false) == [])
        #expect(line.add(3, isPatient: true) == [])
        clock.advance(.seconds(6))
        #expect(line.add(4, isPatient: false) == [1])
        #expect(line.next(10).admitted == [2, 3, 4])
        #expect(line.isEmpty)
    }

    /// A stopped server hangs: it accepts connections and never answers.
    @Test(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"))
    func aHangingDatabaseDoesNotDelayTheServersStop() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            try await FaultyProxy.running(to: try #require(place.port)) { proxy in
                let url = try #require(place.at(port: proxy.port).url)
                let database = try Database.postgreSQL(url: url, schema: Self.schema, connections: 2)
                let asked = NIOLockedValueBox(0)
                proxy.setRule { direction, _ in
                    if direction == .toServer { asked.withLockedValue { $0 += 1 } }
                    return .delay(.hours(1))
                }
                let tasks = (0..<6).map { _ in Task { try await database.check() } }
                while asked.withLockedValue({ $0 }) == 0 || database.waitingCount < 4 {
                    try await Task.sleep(for: .milliseconds(1))
                }
                database.refuseAll()
                for task in tasks { await #expect(throws: DatabaseFailure.self) { try await task.value } }
                try await database.close()
            }
        }
    }
}
