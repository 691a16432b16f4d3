extension GTSDExamples {
    package static let plan = #"""
        {
          "id": "3",
          "userId": "1",
          "weekStartDate": "2025-10-27",
          "weekEndDate": "2025-11-02",
          "targets": {
            "bmr": 1800,
            "tdee": 2400,
            "targetCalories": 2000,
            "proteinGrams": 150,
            "carbGrams": 200,
            "fatGrams": 65
          },
          "educationalContent": {
            "title": = "Why This Plan Works",
            "sections": [
              {
                "heading": "Your Energy Needs",
                "content": "At rest your body uses 1800 kcal a day (BMR). With your activity it is 2400 kcal (TDEE)."
              }
            ]
          },
          "createdAt": "2025-10-27T07:00:00.000Z"
        }
        """#

    private static let generated = success(#"{ "plan": \#(plan), "recomputed": false }"#)

    static let plans = #"""
        POST /v1/plans/generate key limited: Returns the plan of this week, Monday to Sunday in the user's zone.
        > { "forceRecompute": false }
        > {}
        < 201 \#(generated)
        < 200 \#(generated)
        ! 400 Please complete onboarding before generating a plan
        """#
}
