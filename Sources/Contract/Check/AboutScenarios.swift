import Contract
import ContractClient

/// What holds for `GetAbout` in every API that has it. Its shape is held to the API's example.
public enum AboutScenarios {
    public static func all<World: APIWorld>() -> [Scenario<World>] {
        [
            Scenario("The server says who runs it, and on which terms", clause: GetAbout<World.API>.signature) {
                world in
                let answer = try await world.get("/about")
                try answer.succeeded(200)
                let signedIn = try await world.signedIn()(.get, "/about")
                try expect(try signedIn.succeeded(200), equals: try answer.json())
            }
        ]
    }
}
