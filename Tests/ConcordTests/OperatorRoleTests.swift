import DeuceDiaryTestHost
import DunbarTestHost
import GTSDService
import MessengerService
import MonicaService
import MonicaTestHost
import Testbed
import Testing

@testable import Backend

/// Each command of operators says which role it needs.
@Suite(.timeLimit(.minutes(30))) struct OperatorRoleTests {
    /// The commands of those who look after people. All others are for those who may do everything.
    private static let moderators: Set<String> = [
        "people find", "people show", "people sign-out", "people reset-code", "people suspend", "people restore",
        "people remove-content", "reports list", "reports show", "reports file", "reports act", "reports dismiss",
        "reports note",
        "registration set", "registration show", "registration code", "registration list", "registration revoke",
        "bar add", "bar remove", "bar list",
    ]

    /// A command that is new joins the list or stays out of it, and is so by decision.
    @Test func aRoleIsADecision() async throws {
        var own: [any OperatorCommand.Type] = HostedMessenger().operatorCommands + HostedGTSD().operatorCommands
        own += HostedMonica().operatorCommands
        try await withDeuceDiary(on: Stack(.sqlite, .inProcess)) { own += $0.api.operatorCommands }
        try await withDunbar(on: Stack(.sqlite, .inProcess)) { own += $0.node.api.operatorCommands }
        let commands =
            (own + KeyCommands.all + PeopleCommands.all + ReportCommands.all).map { (name: $0.name, role: $0.role) }
            + ServerCommands.all.map { (name: $0.name, role: $0.role) }
        #expect(Set(commands.filter { $0.role == .moderate }.map(\.name)) == Self.moderators)
        #expect(
            Set(commands.filter { $0.role == .all }.map(\.name)) == [
                "audit", "backup", "config", "mail test", "operator link", "people delete", "people export",
                "keys rotate", "keys drop-former",
                "messenger sign-out-everybody", "gtsd sign-out-everybody", "dunbar sign-out-everybody",
                "gtsd activate", "gtsd deactivate", "dunbar promote", "dunbar demote", "deuce-diary location delete",
                "monica token create", "monica token list", "monica token revoke", "monica code",
                "monica app register", "monica app list", "monica app remove", "monica account set", "monica import",
                "monica import json",
                "monica export",
            ])
    }
}
