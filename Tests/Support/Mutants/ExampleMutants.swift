import Contract
import ContractClient
import ContractExamples
import Foundation
import HTTPTypes

extension Mutant {
    /// Derives mutants of every operation from an API's examples: each answer with one other value, a request of which
    /// one member does not count, each refusal otherwise or not at all, a write without an effect, a read of the past.
    ///
    /// The defects keep to the examples' shapes, so that only scenarios that look at the values notice them.
    ///
    /// A member of the same name in an object of the same name counts as the same value. Each is changed in the answers of the
    /// first read and of the first write that has it.
    ///
    /// - Parameter lists: Whether lists count apart from other reads. An API whose every answer has a whole contact would
    ///   have thousands of mutants.
    public static func derived(from examples: Examples, lists: Bool = true) -> [Mutant] {
        let table = OperationTable(examples)
        var (names, values): (Set<String>, Set<String>) = ([], [])
        // A new thing has few values, so what changes one comes first.
        let isMaking = { (operation: OperationExample) in operation.methods[0] == "POST" }
        let operations = examples.operations.filter { !isMaking($0) } + examples.operations.filter(isMaking)
        return operations.flatMap { operation in
            ofAnswers(operation, table, lists, except: &values) + ofRefusals(operation, table)
                + ofRequests(operation, table)
                + ofEffects(operation, table)
        }.filter { names.insert($0.description).inserted }
    }

    private static func of(
        _ operation: OperationExample, _ table: OperationTable, _ name: String,
        _ exchange: @escaping @Sendable (TransportRequest, Defect.Forward) async throws -> TransportResponse
    ) -> Mutant {
        let signature = operation.signature
        return Mutant(
            signature, name,
            Defect(exchange: { request, forward in
                table.signature(of: request) == signature
                    ? try await exchange(request, forward) : try await forward(request)
            }))
    }

    private static func ofAnswers(
        _ operation: OperationExample, _ table: OperationTable, _ lists: Bool, except known: inout Set<String>
    ) -> [Mutant] {
        var all: [Mutant] = []
        // What the answer as a whole is about, such as contacts.
        let subject = operation.path.split(separator: "/").first { $0 != "v1" } ?? ""
        for answer in operation.answers where answer.inclusion == nil {
            let status = answer.status
            let other = status == 200 ? 201 : 200
            var mutants = [
                of(operation, table, "answers \(other) for \(status)") { request, forward in
                    var response = try await forward(request)
                    if response.status.code == status { response.status = .init(code: other) }
                    return response
                }
            ]
            defer { all += mutants }
            guard let body = answer.body else { continue }
            for change in ValueChange.all(of: body) {
                let kind = operation.methods[0] != "GET" ? "write" : lists && change.isInList ? "list" : "read"
                guard known.insert("\(kind) \(change.kind(in: subject))").inserted else { continue }
                mutants.append(
                    of(operation, table, change.name) { request, forward in
                        var response = try await forward(request)
                        guard response.status.code == status else { return response }
                        let (value, changed) = (response.value, change.applied(to: response.value))
                        if changed != value { response.text = changed.description }
                        return response
                    })
            }
        }
        return all
    }

    private static func ofRefusals(_ operation: OperationExample, _ table: OperationTable) -> [Mutant] {
        var mutants: [Mutant] = []
        let success = operation.answers.first { $0.inclusion == nil }.map {
            TransportResponse.json($0.status, $0.body?.json() ?? "{}")
        }
        for refusal in Set(operation.refusals) {
            let (message, other) = (refusal.message, refusal.status == 400 ? 409 : 400)
            mutants += [
                of(operation, table, "answers \(other) for “\(message)”") { request, forward in
                    var response = try await forward(request)
                    if response.isRefusal(saying: message) { response.status = .init(code: other) }
                    return response
                },
                of(operation, table, "words “\(message)” otherwise") { request, forward in
                    var response = try await forward(request)
                    guard let text = response.refusal(like: message) else { return response }
                    response.text = response.text.replacingOccurrences(
                        of: JSONValue.string(text).description, with: #""Refused""#)
                    return response
                },
            ]
            guard let success else { continue }
            mutants.append(
                of(operation, table, "succeeds in place of “\(message)”") { request, forward in
                    let response = try await forward(request)
                    return response.isRefusal(saying: message) ? success : response
                })
        }
        if !operation.isOpen, let success {
            mutants.append(
                of(operation, table, "answers strangers") { request, forward in
                    let response = try await forward(request)
                    return response.status == .unauthorized ? success : response
                })
        }
        return mutants
    }

    private static func ofRequests(_ operation: OperationExample, _ table: OperationTable) -> [Mutant] {
        var mutants: [Mutant] = []
        for request in operation.requests {
            if !request.isForm, case .object(let members)? = request.body?.kind {
                mutants += members.map { member in
                    of(operation, table, "ignores \(member.name)") { request, forward in
                        var request = request
                        if request.json[member.name] != nil { request.json[member.name] = nil }
                        return try await forward(request)
                    }
                }
            }
            let query = request.target.split(separator: "?").dropFirst().first ?? ""
            mutants += query.split(separator: "&").compactMap { $0.split(separator: "=").first }.map(String.init)
                .map { name in
                    of(operation, table, "ignores ?\(name)") { request, forward in
                        var request = request
                        if request.query(name) != nil { request.setQuery(name, nil) }
                        return try await forward(request)
                    }
                }
        }
        if operation.takesKey {
            mutants.append(
                of(operation, table, "forgets idempotency keys") { request, forward in
                    var request = request
                    request.headers[.idempotencyKey] = nil
                    return try await forward(request)
                })
        }
        return mutants
    }

    private static func ofEffects(_ operation: OperationExample, _ table: OperationTable) -> [Mutant] {
        guard let answer = operation.answers.first(where: { $0.inclusion == nil }) else { return [] }
        if operation.methods[0] == "GET" {
            // What has no id in its path is never gone.
            let isPart = operation.path.contains("{")
            return [.cached(operation.signature)] + (isPart ? [.lingering(operation.signature)] : [])
        }
        let response = TransportResponse.json(answer.status, answer.body?.json() ?? "")
        return [of(operation, table, "does nothing, and answers as if it had") { _, _ in response }]
    }
}
