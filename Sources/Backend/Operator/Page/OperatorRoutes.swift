import Contract
import ContractServer
import Foundation
import HTTPTypes

extension OperatorDesk {
    /// The routes of the page's API.
    func routes() -> Routes<OperatorAPI, OperatorSession> {
        var routes = Routes<OperatorAPI, OperatorSession>(
            secrets: { [[]] }, name: { $0.name }, admit: admit, authenticate: authenticate,
            headers: { _, _ in Self.headers })
        routes.open(answering: signIn)
        routes.on(use: { (_: OperatorAPI.GetSession, session) in shown(session) })
        routes.on(answering: { (_: OperatorAPI.SignOut, _, info) in signOut(info) })
        overview(&routes)
        people(&routes)
        tokens(&routes)
        reports(&routes)
        return routes
    }

    // MARK: Overview

    private func overview(_ routes: inout Routes<OperatorAPI, OperatorSession>) {
        routes.on(use: { (_: OperatorAPI.GetOverview, _) in await overview() })
        routes.on(use: { (_: OperatorAPI.ListProblems, session) in
            try Self.require(PrintSettings.role, of: session)
            return await settings.problems(
                serving: commands.running.map(\.hosted), behindProxies: !settings.trustedProxies.isEmpty)
        })
        routes.on(answering: { (request: OperatorAPI.ListAudit, session, _) in
            let command = PrintAudit(of: [], since: .min, last: request.last ?? 20, format: .json)
            return try await entries(command, for: session)
        })
        routes.on(use: { (_: OperatorAPI.BackUpNow, session) in
            try Self.require(MakeBackup.role, of: session)
            try backup.begin(for: session.name)
            return Empty()
        })
        routes.on(use: { (request: OperatorAPI.SendTestEmail, session) in
            let said = try await perform(Backend.SendTestEmail(to: request.address), for: session).text
            return OperatorAPI.Said(text: said.trimmingCharacters(in: .newlines))
        })
        routes.on(use: { (request: OperatorAPI.ReadLog, session) in
            try Self.require(.all, of: session)
            return lines(request)
        })
    }

    private func lines(_ request: OperatorAPI.ReadLog) -> OperatorAPI.LogLines {
        let all = settings.recentLines()
        let level = request.level.flatMap(RecentLines.level) ?? .trace
        let found = RecentLines.matches(
            all, of: request.person, words: (request.text ?? "").split(whereSeparator: \.isWhitespace).map(String.init),
            level: level, after: request.after ?? 0, limit: request.limit ?? 200)
        return OperatorAPI.LogLines(
            newest: all.last?.number ?? 0,
            lines: found.map { line in
                let text = line.text.hasSuffix("\n") ? String(line.text.dropLast()) : line.text
                return .init(number: line.number, level: line.level.rawValue, text: text)
            })
    }

    // MARK: People

    private func people(_ routes: inout Routes<OperatorAPI, OperatorSession>) {
        routes.on(answering: { (request: OperatorAPI.FindPeople, session, _) in
            let command = Backend.FindPeople(
                request.text, in: request.api.map { [$0] } ?? [], limit: request.limit ?? 50, format: .json)
            return try await entries(command, for: session)
        })
        routes.on(answering: { (request: OperatorAPI.ShowPerson, session, _) in
            let command = Backend.ShowPerson(NamedPerson(id: request.id), format: .json)
            return try await entry(command, of: request.api, for: session)
        })
        routes.on(answering: { (request: OperatorAPI.SignOutPerson, session, _) in
            let command = SignOutPeople([NamedPerson(id: request.id)], because: request.reason, format: .json)
            return try await entry(command, of: request.api, for: session)
        })
        routes.on(answering: { (request: OperatorAPI.MakeResetCode, session, _) in
            let command = Backend.MakeResetCode(
                NamedPerson(id: request.id), isSent: request.send ?? false, format: .json)
            return try await entry(command, of: request.api, for: session)
        })
        routes.on(answering: { (request: OperatorAPI.SuspendPerson, session, _) in
            let command = SuspendPeople(
                [NamedPerson(id: request.id)], until: request.until?.date, because: request.reason, format: .json)
            return try await entry(command, of: request.api, for: session)
        })
        routes.on(answering: { (request: OperatorAPI.RestorePerson, session, _) in
            let command = RestorePeople([NamedPerson(id: request.id)], because: request.reason ?? "", format: .json)
            return try await entry(command, of: request.api, for: session)
        })
        routes.on(answering: { (request: OperatorAPI.RemoveContent, session, _) in
            let command = Backend.RemoveContent(
                of: [NamedPerson(id: request.id)], since: request.since?.date, because: request.reason, format: .json)
            return try await entry(command, of: request.api, for: session)
        })
        routes.on(answering: { (request: OperatorAPI.DeletePerson, session, _) in
            let command = DeletePeople([NamedPerson(id: request.id)], because: request.reason, format: .json)
            return try await entry(command, of: request.api, for: session)
        })
        routes.on(streaming: { (request: OperatorAPI.ExportPerson, session) in
            let command = Backend.ExportPerson(NamedPerson(id: request.id), because: request.reason)
            let name = "\(request.api)-\(request.id)".filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
            return try await StreamedOutput.answer { console in
                try await perform(command, of: request.api, for: session, on: console)
            } headers: { _ in
                [.contentType: "application/zip", .contentDisposition: "attachment; filename=\"\(name).zip\""]
            }
        })
    }

    // MARK: Reports

    private func reports(_ routes: inout Routes<OperatorAPI, OperatorSession>) {
        routes.on(answering: { (request: OperatorAPI.ListReports, session, _) in
            let state = request.state.map { ReportState(rawValue: $0) } ?? .open
            let command = Backend.ListReports(of: [], state, limit: request.limit ?? 100, format: .json)
            return try await entries(command, for: session)
        })
        routes.on(answering: { (request: OperatorAPI.ShowReport, session, _) in
            let command = Backend.ShowReport(request.report, format: .json)
            return try await entry(command, of: request.api, for: session)
        })
        routes.on(answering: { (request: OperatorAPI.ActOnReport, session, _) in
            let command = Backend.ActOnReport(
                on: request.report, request.acts.compactMap(ReportAct.init), until: request.until?.date,
                because: request.reason, format: .json)
            return try await entry(command, of: request.api, for: session)
        })
        routes.on(answering: { (request: OperatorAPI.DismissReport, session, _) in
            let command = Backend.DismissReport(request.report, because: request.reason ?? "", format: .json)
            return try await entry(command, of: request.api, for: session)
        })
        routes.on(use: { (request: OperatorAPI.NoteReport, session) in
            let command = Backend.NoteReport(request.text, on: request.report)
            let said = try await perform(command, of: request.api, for: session).text
            return OperatorAPI.Said(text: said.trimmingCharacters(in: .newlines))
        })
        routes.on(streaming: { (request: OperatorAPI.GetReportedFile, session) in
            let command = SaveReportedFile(request.number, of: request.report)
            return try await StreamedOutput.answer { console in
                try await perform(command, of: request.api, for: session, on: console)
            } headers: { beginning in
                Self.fileHeaders(beginning)
            }
        })
    }

    /// Returns the headers of a stranger's file: a browser shows pictures and films alone, and runs nothing in them.
    private static func fileHeaders(_ beginning: [UInt8]) -> HTTPFields {
        var headers: HTTPFields = [.contentSecurityPolicy: "default-src 'none'; sandbox"]
        if let type = MediaType(head: Array(beginning.prefix(MediaType.headSize))) {
            headers[.contentType] = type.contentType
        } else {
            headers[.contentType] = "application/octet-stream"
            headers[.contentDisposition] = "attachment"
        }
        return headers
    }
}

extension OperatorAPI.ReadLog {
    fileprivate var person: RecentLines.Person? {
        api.flatMap { api in user.map { RecentLines.Person(api: api, id: $0) } }
    }
}
