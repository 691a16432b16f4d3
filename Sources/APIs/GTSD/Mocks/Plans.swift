import Contract
import ContractMocks
import GTSDAPI

extension GTSD.Plan {
    /// The example: Anna's plan for a week.
    public static let example: Self = contractExample(
        """
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
            "title": "Why This Plan Works",
            "sections": [
              {
                "heading": "Your Energy Needs",
                "content": "At rest your body uses 1800 kcal a day (BMR). With your activity it is 2400 kcal (TDEE)."
              }
            ]
          },
          "createdAt": "2025-10-27T07:00:00.000Z"
        }
        """)
}

extension GTSD.Profile {
    /// The example: Anna's profile.
    public static let example: Self = contractExample(
        """
        {
          "dateOfBirth": "1997-05-20",
          "gender": "female",
          "primaryGoal": "maintain",
          "currentWeight": 65,
          "targetWeight": null,
          "height": 165,
          "activityLevel": "lightly_active",
          "targetDate": null,
          "timezone": "Europe/Berlin",
          "dietaryPreferences": [],
          "allergies": [],
          "mealsPerDay": 3,
          "hasCompletedOnboarding": true
        }
        """)
}

extension GTSDMock {
    func plans() {
        server.example(of: GTSD.GeneratePlan.self) { request in
            APIResponse(.init(plan: .example, recomputed: request.forceRecompute ?? false))
        }
    }

    func onboarding() {
        server.example(of: GTSD.CompleteOnboarding.self) { _ in APIResponse(.init(profile: .example)) }
        server.example(of: GTSD.GetOnboarding.self) { _ in APIResponse(.init(profile: .example)) }
    }
}
