extension MonicaExamples {
    package static let activityTypeCategory = """
        {
          "id": #1,
          "uuid": "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6073",
          "object": = "activityTypeCategory",
          "name": "Food",
          "account": \(owner),
          "created_at": "2024-01-15T10:30:00Z",
          "updated_at": "2024-01-15T10:30:00Z"
        }
        """

    package static let activityType = """
        {
          "id": #1,
          "uuid": "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6072",
          "object": = "activityType",
          "name": "ate at home",
          "location_type": "my_place" | null,
          "activity_type_category": \(activityTypeCategory),
          "account": \(owner),
          "created_at": "2024-01-15T10:30:00Z",
          "updated_at": "2024-01-15T10:30:00Z"
        }
        """

    static let activityTypes =
        type(
            "activitytypes", "a type of activities", activityType, name: "activity type",
            list: ("Returns the possible types of an activity.", #"{ "data": [\#(activityType)] }"#),
            requests: (
                new: #"{ "name": "ate at home", "activity_type_category_id": 3 }"#,
                changed: #"{ "name": "cooked", "activity_type_category_id": 3 }"#
            ), refusal: "The selected activity type category id is invalid.") + "\n\n"
        + type(
            "activitytypecategories", "a category of types of activities", activityTypeCategory,
            name: "activity type category",
            list: (
                "Returns all categories of types of activities, the oldest first.",
                whole(activityTypeCategory, "/activitytypecategories", isPart: true)
            ), requests: (new: #"{ "name": "Food" }"#, changed: #"{ "name": "Meals" }"#),
            refusal: "The name field is required.")
}
