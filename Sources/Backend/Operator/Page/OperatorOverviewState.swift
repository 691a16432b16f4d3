import Contract
import Foundation
import Logging
import NIOPosix

extension OperatorDesk {
    /// Returns the state of the server.
    func overview() async -> OperatorAPI.Overview {
        async let backups = backup.look()
        var apis: [OperatorAPI.ServedAPI] = []
        for api in commands.running { apis.append(await state(of: api)) }
        let disk = try? await NIOThreadPool.singleton.runIfActive { [settings] in
            let space = try settings.reserve.space(of: settings.folder)
            return OperatorAPI.Disk(
                available: space.available, size: space.total, reserve: settings.reserve.bytes(of: space))
        }
        let expiry = registry.samples(of: "concord_certificate_expiry_timestamp_seconds").first
        return OperatorAPI.Overview(
            apis: apis, minutes: traffic.hour(of: commands.running.map(\.name)).minutes, disk: disk,
            backup: await backups,
            certificateExpiresAt: expiry.map { .init(milliseconds: Int64($0.value) * 1000) },
            warnings: settings.recentLines().count { $0.level >= .warning })
    }

    private func state(of api: RunningAPI) async -> OperatorAPI.ServedAPI {
        let failed = await api.service.check().filter { $0.failure != nil }
        let reports = try? await openReports(of: api)
        let hour = traffic.hour(of: [api.name])
        return OperatorAPI.ServedAPI(
            name: api.name, title: api.hosted.title, url: settings.publicURL(of: api.hosted) + api.basePath,
            unavailable: failed.map(\.name), isReady: !failed.contains { $0.isNeeded },
            sockets: sum(of: "concord_sockets", in: api),
            emailsWaiting: sum(of: "concord_emails_waiting", in: api),
            emailsFailed: failures(of: "concord_emails_total", in: api),
            pushesWaiting: sum(of: "concord_pushes_waiting", in: api),
            pushesFailed: failures(of: "concord_pushes_total", in: api), reportsOpen: reports?.count,
            oldestReportAt: reports?.oldest.map { .init(milliseconds: $0) }, hour: hour.whole,
            minutes: hour.minutes)
    }

    private func openReports(of api: RunningAPI) async throws -> (count: Int, oldest: Int64?)? {
        guard let table = api.hosted.tableOfPeople, table.hasReports else { return nil }
        return try await Self.openReports(table, in: api)
    }

    private static func openReports<Table: PeopleTable>(
        _: Table.Type, in api: RunningAPI
    ) async throws -> (count: Int, oldest: Int64?) {
        try await api.database.read { try ReportQueue<Table>.open(in: $0) }
    }

    /// Returns the sum of a metric over all labels that an API's series have.
    private func sum(of name: String, in api: RunningAPI) -> Int {
        Int(registry.samples(of: name).filter { $0.label("api") == api.name }.reduce(0) { $0 + $1.value })
    }

    /// Returns how many deliveries have failed or were given up since the start.
    private func failures(of name: String, in api: RunningAPI) -> Int {
        let failed = registry.samples(of: name).filter {
            $0.label("api") == api.name && ["failed", "given_up"].contains($0.label("result") ?? "")
        }
        return Int(failed.reduce(0) { $0 + $1.value })
    }
}
