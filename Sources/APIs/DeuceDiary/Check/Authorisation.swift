@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import DeuceDiaryClient
import Foundation
import HTTPTypes

/// The table of permissions, operation by operation.
extension DeuceDiaryScenarios {
    static let authorisation: [Scenario<DeuceDiaryWorld>] = [
        Scenario(
            "Each endpoint answers anonymous, outsider, member and admin as the table says", clause: "Authorisation"
        ) { world, admin, member, outsider in
            let group = try await admin.group(with: member)
            let entry = try await admin.log(in: group)[0].id
            let invite = try await admin.send(DeuceDiary.CreateInvite(group: group)).id
            let log = #"{"groupIds":["\#(group)"],"location":"x","thoughts":""}"#
            let reaction = "/api/entries/\(entry)/reactions"
            // The last column is an outsider's refusal; nil where every signed-in user has access.
            let table: [(HTTPRequest.Method, path: String, body: String?, outsider: (Int, String)?)] = [
                (.get, "/api/auth/user", nil, nil), (.get, "/api/analytics/most-deuces", nil, nil),
                (.get, "/api/auth/user/export", nil, nil), (.get, "/api/deuces", nil, nil),
                (.get, "/api/deuces?groupId=\(group)", nil, (403, "Not authorized")),
                (.get, "/api/groups", nil, nil), (.post, "/api/groups", #"{"name":"N"}"#, nil),
                (.get, "/api/groups/\(group)", nil, (403, "Not authorized")),
                (.post, "/api/groups/\(group)/invite", nil, (403, "Not authorized")),
                (.get, "/api/groups/\(group)/invites", nil, (403, "Not authorized")),
                (.post, "/api/deuces", log, (403, "Not authorized for group \(group)")),
                (.post, reaction, #"{"emoji":"x"}"#, (403, "Not authorized to react to this entry")),
                (.get, reaction, nil, (403, "Not authorized to access this entry")),
                (.delete, reaction, #"{"emoji":"x"}"#, nil), (.post, "/api/join/\(invite)", nil, nil),
            ]
            for (method, path, body, refusal) in table {
                try await world.raw.send(method, path, body: body).refused(401, "Unauthorized", path)
                let answer = try await outsider.raw(method, path, body: body)
                if let (status, text) = refusal {
                    try answer.refused(status, text, path)
                } else {
                    try answer.succeeded("\(method) \(path)")
                }
                for person in [admin, member] {
                    try await person.raw(method, path, body: body).succeeded("\(method) \(path)")
                }
            }
            // These are open to every user, and show each their own data.
            for (path, status) in [
                ("/api/locations", 200), ("/join/\(invite)", 302), ("/api/groups/preview/\(invite)", 200),
            ] {
                try expect(try await world.raw.send(.get, path).status, equals: status)
                for person in [outsider, member, admin] {
                    try expect(try await person.get(path).status, equals: status)
                }
            }
            for person in [admin, member, outsider] {
                try expect(try await person.get("/api/auth/user").succeeded()["id"], equals: person.id.json)
                try await person.upload(SampleImage.jpeg(width: 8, height: 8)).succeeded()
                try await person.send(DeuceDiary.UpdateUser(username: world.freshName()))
            }
        },
        Scenario("No user reads or changes anything through the ids of others", clause: "Authorisation") {
            _, john, jane in
            let group = try await john.group()
            let entry = try await john.log("secret", in: group)[0]
            let invite = try await john.send(DeuceDiary.CreateInvite(group: group)).id
            try await john.send(DeuceDiary.AddReaction(entry: entry.id, emoji: "💩"))
            try await jane.send(DeuceDiary.RemoveReaction(entry: entry.id, emoji: "💩"))
            for (method, path) in [
                (.post, "/api/groups/\(group)/leave"), (.delete, "/api/groups/\(group)/members/\(john.id)"),
                (.delete, "/api/deuces/\(entry.id)"), (.delete, "/api/invites/\(invite)"),
                (.get, "/api/groups/\(group)/invites"),
            ] as [(HTTPRequest.Method, String)] {
                let answer = try await jane.raw(method, path)
                try expect([403, 404].contains(answer.status), "\(method) \(path): \(answer.status)")
            }
            let own = try await jane.group()
            for path in [
                "/api/groups/\(group)", "/api/groups/\(own)?before=\(entry.id)", "/api/groups?before=\(group)",
                "/api/entries/\(entry.id)/reactions", "/api/groups", "/api/groups/\(own)", "/api/deuces",
                "/api/deuces?groupId=\(group)", "/api/deuces?before=\(entry.id)", "/api/auth/user/export",
            ] {
                let answer = try await jane.get(path)
                try expect(!answer.text.contains("secret"), "\(path) tells")
            }
            try expect(try await john.send(DeuceDiary.ListReactions(entry: entry.id)).count, equals: 1)
            try expect(try await john.entries(of: group).map(\.value), equals: [entry])
        },
    ]
}
