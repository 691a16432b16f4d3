@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import HTTPTypes
import MonicaClient

extension MonicaScenarios {
    static let activityTypes: [Scenario<MonicaWorld>] = [
        Scenario("Types of activities are made, changed and gone, and activities stay", clause: "POST /activitytypes") {
            world, owner in
            let word = world.freshWord()
            let (first, second) = (
                try await owner.category(word + " a"), try await owner.category(word + " b")
            )
            let bodies: [JSONValue] = [
                ["name": .string(word), "activity_type_category_id": first["id"] ?? nil],
                ["name": .string(word + " x"), "activity_type_category_id": second["id"] ?? nil],
            ]
            try await owner.followType("activitytypes", "activity type", bodies) { body in
                let isFirst = body["activity_type_category_id"] == first["id"]
                return [
                    "name": body["name"] ?? nil, "location_type": .null,
                    "activity_type_category": isFirst ? first : second,
                ]
            } use: { type in
                let activity = try await owner.activity(of: type.number)
                return { isThere in
                    let shown = try await owner.get("/activities/\(activity)").succeeded(200)["data"]
                    let read = try await owner.get("/activitytypes/\(type["id"] ?? nil)").json()["data"]
                    try expect(shown?["activity_type_id"], equals: isThere ? read?["id"] : .null)
                    try expect(shown?["activity_type"], equals: isThere ? read : .null)
                }
            }
            for category in [first, second] {
                try await owner.raw(.delete, "/activitytypecategories/\(category["id"] ?? nil)").succeeded(200)
            }
        },
        Scenario("The types of a category go with it", clause: "DELETE /activitytypecategories/{id}") { world, owner in
            let word = world.freshWord()
            let bodies: [JSONValue] = [["name": .string(word)], ["name": .string(word + " x")]]
            try await owner.followType("activitytypecategories", "activity type category", bodies) { category in
                let body: JSONValue = ["name": .string(word), "activity_type_category_id": category["id"] ?? nil]
                let made = try await owner.raw(.post, "/activitytypes", body).succeeded(201)["data"] ?? nil
                let activity = try await owner.activity(of: made.number)
                return { isThere in
                    let shown = try await owner.get("/activities/\(activity)").succeeded(200)["data"]
                    try expect(shown?["activity_type_id"], equals: isThere ? made["id"] : .null)
                    let path = "/activitytypes/\(made["id"] ?? nil)"
                    guard isThere else {
                        try await owner.get(path).refused(404, 31, "The requested activity type was not found.")
                        return
                    }
                    let whole = try await owner.get("/activitytypecategories/\(category["id"] ?? nil)").succeeded(200)
                    let type = try await owner.get(path).succeeded(200)["data"]
                    try expect(type?["activity_type_category"], equals: whole["data"])
                }
            }
        },
        Scenario("Types of activities and their categories say what is wrong", clause: "POST /activitytypes") {
            world, owner in
            let word = world.freshWord()
            let long = JSONValue.string(String(repeating: "x", count: 256))
            let names: [([String: JSONValue], String)] = [
                (["name": nil], "The name field is required."), (["name": 7], "The name must be a string."),
                (["name": long], "The name may not be greater than 255 characters."),
            ]
            try await owner.refuseTypes("activitytypecategories", ["name": .string(word)], names)
            let category = try await owner.category(word)
            let whole: JSONValue = ["name": .string(word), "activity_type_category_id": category["id"] ?? nil]
            let none = "The selected activity type category id is invalid."
            try await owner.refuseTypes(
                "activitytypes", whole,
                names + [
                    (["activity_type_category_id": nil], "The activity type category id field is required."),
                    (["activity_type_category_id": "x"], "The activity type category id must be an integer."),
                    (["activity_type_category_id": 0], none), (["activity_type_category_id": 999_999_999], none),
                    (["activity_type_category_id": 0, "name": " "], "\(none) The name field is required."),
                ])
            try await owner.raw(.delete, "/activitytypecategories/\(category["id"] ?? nil)").succeeded(200)
        },
        Scenario("A type that an account begins with keeps its kind of place", clause: "PUT /activitytypes/{id}") {
            _, owner in
            let types = try await owner.get("/activitytypes").succeeded(200)["data"]?.elements ?? []
            let place = types.first { $0["location_type"] == "my_place" } ?? nil
            let body: JSONValue = [
                "name": place["name"] ?? nil,
                "activity_type_category_id": place["activity_type_category"]?["id"] ?? nil,
            ]
            let written = try await owner.raw(.patch, "/activitytypes/\(place["id"] ?? nil)", body).succeeded(200)[
                "data"]
            for member in ["id", "uuid", "name", "location_type", "activity_type_category", "created_at"] {
                try expect(written?[member], equals: place[member])
            }
        },
    ]
}

extension Owner {
    /// Creates a category of types of activities.
    func category(_ name: String) async throws -> JSONValue {
        try await raw(.post, "/activitytypecategories", ["name": .string(name)]).succeeded(201)["data"] ?? nil
    }

    /// Creates an activity of a type, and returns its id.
    fileprivate func activity(of type: Int) async throws -> Int {
        try await client.create(
            Monica.ActivityDraft(
                summary: "x", happenedAt: Day(checked: "2024-10-20"), contacts: [try await contact("John").id],
                activityTypeID: type)
        ).id
    }
}
