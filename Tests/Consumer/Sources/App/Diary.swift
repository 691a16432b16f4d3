import DeuceDiaryMocks

func showDiary() async throws {
    for try await group in DeuceDiaryClient.mock().groups() { print(group.name, group.entryCount) }
}
