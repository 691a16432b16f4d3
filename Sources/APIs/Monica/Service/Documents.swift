import Backend
import Contract
import ContractServer
import Database
import MonicaAPI
import ObjectStore

extension MonicaService {
    func documents(_ routes: inout Routes<Monica, Caller>) { filesOfContacts(&routes, of: Monica.Document.self) }
}

extension Monica.Document: StoredFile {
    static var table: SQL { "documents" }

    static func content(
        of request: Monica.Store<Self>, _ input: inout FormReader, by service: MonicaService
    ) async throws -> ReceivedFile? {
        guard let upload = request.file, let file = upload.spooledFile else {
            input.reject(singular, "field is required.")
            return nil
        }
        return try received(file, named: upload.filename)
    }

    static func received(_ file: SpooledFile, named filename: String?) throws -> ReceivedFile? {
        let head = try file.head()
        let isPDF = head.starts(with: Array("%PDF-".utf8))
        let type = MediaType(head: head)?.contentType ?? (isPDF ? "application/pdf" : "application/octet-stream")
        return ReceivedFile(content: file, filename: filename ?? "file", mimeType: type)
    }

    static func prepared(
        _ file: ReceivedFile, of account: AccountID, by service: MonicaService
    ) async throws -> SpooledFile { file.content }

    static func withdraw(_ id: Int, at now: Int64, in db: Session) throws {}

    init(_ row: FileRow, by loader: RecordLoader) throws {
        self.init(
            id: row.id, uuid: row.uuid, filename: row.filename, key: row.key, size: row.size, mimeType: row.mimeType,
            link: try loader.links.attachment(row.key, Download(filename: row.filename, contentType: row.mimeType)),
            url: "\(loader.baseURL)/documents/\(row.id)", account: loader.account.number, createdAt: row.createdAt)
    }

    func renewed(by links: FileLinks) throws -> String {
        try links.attachment(newFilename, Download(filename: originalFilename, contentType: mimeType))
    }
}
