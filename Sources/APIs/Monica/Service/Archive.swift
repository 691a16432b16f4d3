import Backend
import Contract
import ContractServer
import Database
import MonicaAPI

extension MonicaService {
    func archive(_ routes: inout Routes<Monica, Caller>) {
        routes.on(use: requestArchive)
        routes.on(use: getArchive)
    }

    func requestArchive(
        _ request: Monica.RequestArchive, from caller: Caller
    ) async throws -> APIResponse<Monica.Archive> {
        APIResponse(data: try described(try await archives.request(by: caller.account, at: time.milliseconds())))
    }

    func getArchive(_ request: Monica.GetArchive, from caller: Caller) async throws -> APIResponse<Monica.Archive> {
        guard let record = try await archives.current(of: caller.account, at: time.milliseconds()) else {
            throw Problem(.notFound, "No archive was requested")
        }
        return APIResponse(data: try described(record))
    }

    private func described(_ record: ArchiveRecord) throws -> Monica.Archive {
        .init(
            state: record.state, requestedAt: .init(milliseconds: record.requestedAt), size: record.size,
            url: try archives.url(of: record, named: "monica.zip"),
            expiresAt: record.expiresAt.map { .init(milliseconds: $0) })
    }
}

extension MonicaService {
    /// Returns what an archive contains: the answers of ``Monica/ExportJSON`` and ``Monica/ExportVCard``, and the files.
    static func archiveContents(from exporter: Exporter) -> ArchiveContents<AccountID> {
        ArchiveContents(
            documents: { account in
                [
                    ArchiveDocument("export.json") { try await exporter.export(.json, of: account, to: $0) },
                    ArchiveDocument("contacts.vcf") { try await exporter.export(.vcard, of: account, to: $0) },
                ]
            },
            files: { account, last in
                try await exporter.database.read { try Files.archived(of: account, after: last, in: $0) }
            })
    }
}
