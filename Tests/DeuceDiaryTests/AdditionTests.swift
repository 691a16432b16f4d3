import DeuceDiaryAPI
import DeuceDiaryCheck
import Testbed
import Testing

/// Additions to the published contract are marked, and lists say what a large `limit` does.
@Suite(.timeLimit(.minutes(30))) struct DeuceDiaryAdditionTests {
    private static let user =
        "id email firstName lastName username profileImageUrl deuceCount createdAt updatedAt"
    private static let group = "id name description createdBy createdAt updatedAt"
    private static let entry = "id userId groupId location thoughts loggedAt createdAt"
    private static let reaction = "id entryId userId emoji createdAt"

    /// The names in the published contract.
    private static let contract = PublishedContract(
        """
        GET /api/auth/user < \(user)
        PUT /api/auth/user > username < \(user)
        POST /api/auth/user/profile-picture > profilePicture < \(user)
        POST /api/groups > name description < \(group)
        GET /api/groups < \(group) memberCount entryCount lastActivity
        GET /api/groups/{groupId} < group(\(group)) members(id groupId userId role joinedAt user(\(user)) personalRecord(date count)) entries(\(entry) user(\(user)))
        POST /api/groups/{groupId}/invite < inviteLink id
        POST /api/join/{inviteId} < group(\(group)) message
        GET /join/{inviteId}
        POST /api/deuces > groupIds groupId location thoughts loggedAt < entries(\(entry)) count
        POST /api/entries/{entryId}/reactions > emoji < \(reaction)
        DELETE /api/entries/{entryId}/reactions > emoji < message
        GET /api/entries/{entryId}/reactions < \(reaction) user(\(user))
        GET /api/locations < id name isDefault createdBy createdAt
        POST /api/locations > name < id name isDefault createdBy createdAt
        GET /api/analytics/most-deuces < date count
        client join_group groupId
        server deuce_logged message entry(\(entry) user(\(user))) userId
        failure message
        """)

    @Test func theMarksAreTheContracts() async {
        DeuceDiaryLawTests.laws.checkAdditions(to: Self.contract)
        DeuceDiaryLawTests.laws.checkAdditions(in: await Described.api.description, to: Self.contract)
    }

    @Test(arguments: Stack.all)
    func theDescriptionSaysWhatALimitDoes(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack) { host in
            let john = try await host.world().person()
            let group = try await john.group()
            let entry = try await john.log(in: group)[0].id
            let targets = [
                "GET /api/groups/{groupId}": "/api/groups/\(group)",
                "GET /api/groups/{groupId}/invites": "/api/groups/\(group)/invites",
                "GET /api/entries/{entryId}/reactions": "/api/entries/\(entry)/reactions",
            ]
            try await DeuceDiaryLawTests.laws.checkLimits(in: await Described.api.description, at: targets) {
                try await john.raw(.get, $0)
            }
        }
    }
}
