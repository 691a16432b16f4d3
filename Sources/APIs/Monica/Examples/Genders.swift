extension MonicaExamples {
    package static let gender = """
        {
          "id": #1,
          "object": = "gender",
          "name": "Man",
          "type": "M" | "F" | "O",
          "account": \(owner),
          "created_at": "2024-01-15T10:30:00Z",
          "updated_at": "2024-01-15T10:30:00Z"
        }
        """

    static let genders = type(
        "genders", "a gender", gender, name: "gender",
        list: ("Returns the possible genders of a contact.", #"{ "data": [\#(gender)] }"#),
        requests: (
            new: #"{ "name": "Man", "type": "M" }"#, changed: #"{ "name": "Nobody's business", "type": "O" }"#
        ), refusal: "The name field is required.")
}
