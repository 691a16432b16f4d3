extension GTSDExamples {
    package static let profile = #"""
        {
          "dateOfBirth": "1997-05-20",
          "gender": "female" | "male" | "other",
          "primaryGoal": "maintain",
          "currentWeight": number 65,
          "targetWeight": null | number 60.5,
          "height": number 165,
          "activityLevel": "lightly_active",
          "targetDate": null | "2026-06-01",
          "timezone": "Europe/Berlin",
          "dietaryPreferences": [] | ["vegan"],
          "allergies": [] | ["nuts"],
          "mealsPerDay": 3,
          "hasCompletedOnboarding": = true
        }
        """#

    private static let status = success(#"{ "profile": \#(profile) }"#)

    static let onboarding = #"""
        POST /v1/onboarding key addition: Stores the profile that plans are made from.
        > {
          "dateOfBirth": "1990-01-15",
          "gender": "male",
          "primaryGoal": "lose_weight",
          "currentWeight": 80,
          "targetWeight": 75,
          "height": 180,
          "activityLevel": "moderately_active",
          "targetDate": "2026-06-01",
          "timezone": "Europe/Berlin",
          "dietaryPreferences": [],
          "allergies": ["nuts"],
          "mealsPerDay": 3
        }
        < 201 \#(status)
        < 200 \#(status)
        ! 400 Validation failed: dateOfBirth: Invalid dateOfBirth, targetDate: Invalid targetDate
        ! 400 Validation failed: timezone: Invalid timezone

        GET /v1/onboarding addition: Returns the stored profile.
        < 200 \#(status)
        ! 404 Onboarding has not been completed
        """#
}
