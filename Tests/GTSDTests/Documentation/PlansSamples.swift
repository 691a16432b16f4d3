import Foundation
import GTSDClient

// The samples of Plans.md.

enum PlansSamples {
    static func onboard(_ gtsd: GTSDClient, birthday: Day) async throws -> GTSD.Profile {
        // sample
        let profile = try await gtsd.send(
            GTSD.CompleteOnboarding(
                dateOfBirth: birthday, gender: .female, primaryGoal: .maintain, currentWeight: 65, height: 165,
                activityLevel: .lightlyActive)
        ).data.profile
        // end
        return profile
    }

    static func plan(_ gtsd: GTSDClient, show: (String) -> Void) async throws {
        // sample
        let plan = try await gtsd.send(GTSD.GeneratePlan()).data.plan
        show("\(plan.weekStartDate): \(plan.targets.targetCalories) kcal, \(plan.targets.proteinGrams) g protein")
        for section in plan.educationalContent.sections { show(section.heading) }
        // end
    }

    static func limits(_ gtsd: GTSDClient) async throws {
        // sample
        let answer = try await gtsd.answer(GTSD.GeneratePlan(forceRecompute: true))
        if let limit = answer.rateLimit {
            print("\(limit.remaining) of \(limit.limit) left until \(limit.resetsAt)")
        }
        // end
    }

    static func refusals(
        _ gtsd: GTSDClient, show: (String) -> Void, log: (String) -> Void, showSignIn: () -> Void
    ) async throws {
        // sample
        do {
            try await gtsd.send(GTSD.GeneratePlan())
        } catch is SignedOut {
            showSignIn()
        } catch let error as APIError where error.status == .tooManyRequests {
            show("Try again in \(error.retryAfter ?? 60) seconds.")
        } catch let error as APIError {
            show(error.message)
            if let failure = error.gtsd { log("request \(failure.requestId)") }
        } catch is URLError {
            show("You are offline.")
        }
        // end
    }

    static func form(weight: Double, birthday: Day, hint: (String) -> Void) {
        // sample
        let answers = GTSD.CompleteOnboarding(
            dateOfBirth: birthday, gender: .other, primaryGoal: .improveHealth, currentWeight: weight, height: 180,
            activityLevel: .sedentary)
        do {
            try answers.validate()
        } catch {
            hint(error.message)
        }
        // end
    }
}
