import ContractServer
import CoreMetrics
import Database
import NIOPosix
import ObjectStore
import ServiceLifecycle

/// Records what nothing counts as it happens: the lengths of queues, sizes of files, and the resources of the process.
///
/// It does so every ten seconds, for back ends that send what is recorded, and before each answer of `GET /metrics`.
struct MetricsSampler: Service {
    private let settings: ServerSettings
    private let memory: RequestMemory
    private let databases: [(database: Database, metrics: DatabaseGauges)]
    private let reports: [(database: Database, table: any PeopleTable.Type, metrics: ReportGauges)]
    private let process = ProcessMetrics()
    private let server = ServerGauges()

    init(_ settings: ServerSettings, memory: RequestMemory, apis: [RunningAPI]) {
        self.settings = settings
        self.memory = memory
        let factory = MetricsSystem.factory
        databases = apis.map { api in
            (api.database, withMetricsFactory(factory.labelled(api: api.name)) { DatabaseGauges() })
        }
        reports = apis.compactMap { api in
            guard let table = api.hosted.tableOfPeople, table.hasReports else { return nil }
            let metrics = withMetricsFactory(factory.labelled(api: api.name)) { ReportGauges() }
            return (api.database, table, metrics)
        }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            repeat { await sample() } while (try? await Task.sleep(for: .seconds(10))) != nil
        }
        // A service that ends would end the others.
        try? await gracefulShutdown()
    }

    /// Records the current values.
    func sample() async {
        try? await NIOThreadPool.singleton.runIfActive { record() }
        for (database, table, metrics) in reports {
            // A database that does not answer leaves the last values.
            try? await metrics.record(table, in: database)
        }
    }

    private func record() {
        process.sample()
        for (database, metrics) in databases { metrics.record(database.load) }
        if let (open, limit) = settings.connections?.load {
            server.connections.set(open)
            server.connectionsLimit.set(limit)
        }
        for (budget, gauges) in [(memory.bodies, server.bodies), (memory.answers, server.answers)] {
            gauges.used.set(budget.used)
            gauges.waiting.set(budget.waiting)
        }
        server.hashing.set(settings.passwords.waiting)
        if let space = try? settings.reserve.space(of: settings.folder) {
            server.diskAvailable.set(space.available)
            server.diskSize.set(space.total)
            server.diskReserve.set(settings.reserve.bytes(of: space))
        }
    }
}

/// The gauges of one database.
private struct DatabaseGauges: Sendable {
    private let waiting = Meter(label: "concord_database_waiting")
    private let connections = Meter(label: "concord_database_connections")
    private let inUse = Meter(label: "concord_database_connections_in_use")
    private let file = Meter(label: "concord_database_file_bytes")
    private let log = Meter(label: "concord_database_wal_bytes")
    private let announcements = Meter(label: "concord_bus_waiting")
    private let isConnected = Meter(label: "concord_bus_connected")
    private let isReplicaUsed = Meter(label: "concord_database_replica_used")

    func record(_ load: DatabaseLoad) {
        waiting.set(load.waiting)
        connections.set(load.connections.limit)
        inUse.set(load.connections.inUse)
        if let files = load.files {
            file.set(files.database)
            log.set(files.log)
        }
        if let bus = load.bus {
            announcements.set(bus.waiting)
            isConnected.set(bus.isConnected ? 1 : 0)
        }
        if let isUsed = load.isReplicaUsed { isReplicaUsed.set(isUsed ? 1 : 0) }
    }
}

/// The gauges of one API's reports.
private struct ReportGauges: Sendable {
    private let open = Meter(label: "concord_reports_open")
    private let age = Meter(label: "concord_reports_oldest_age_seconds")

    func record<Table: PeopleTable>(_: Table.Type, in database: Database) async throws {
        let found = try await database.read { try ReportQueue<Table>.open(in: $0) }
        let now = TimeSource.system.milliseconds()
        open.set(found.count)
        age.set(found.oldest.map { max(0, now - $0) / 1000 } ?? 0)
    }
}

/// The gauges of the whole server.
private struct ServerGauges: Sendable {
    /// The gauges of one budget of memory.
    struct Budget: Sendable {
        let used: Meter
        let waiting: Meter

        init(_ kind: String) {
            used = Meter(label: "concord_request_memory_bytes", dimensions: [("kind", kind)])
            waiting = Meter(label: "concord_request_memory_waiting", dimensions: [("kind", kind)])
        }
    }

    let connections = Meter(label: "concord_connections")
    let connectionsLimit = Meter(label: "concord_connections_limit")
    let bodies = Budget("bodies")
    let answers = Budget("answers")
    let hashing = Meter(label: "concord_password_hashing_waiting")
    let diskAvailable = Meter(label: "concord_disk_available_bytes")
    let diskSize = Meter(label: "concord_disk_size_bytes")
    let diskReserve = Meter(label: "concord_disk_reserve_bytes")
}
