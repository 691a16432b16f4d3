/// The Gregorian calendar. Days are counted from 1970-01-01.
enum Civil {
    static func floorDivide(_ value: Int64, by divisor: Int64) -> Int64 {
        (value - floorRemainder(value, by: divisor)) / divisor
    }

    static func floorRemainder(_ value: Int64, by divisor: Int64) -> Int64 {
        let remainder = value % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }

    /// Returns the first day of a month.
    static func days(_ year: Int64, month: Int64) -> Int64 {
        // Years begin in March here, so that a leap day is a year's last.
        let shifted = month <= 2 ? year - 1 : year
        let leapDays = floorDivide(shifted, by: 4) - floorDivide(shifted, by: 100) + floorDivide(shifted, by: 400)
        return shifted * 365 + leapDays + (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 - 719_468
    }

    static func year(of day: Int64) -> Int64 {
        // 400 years have 146,097 days. The estimate is a year off at most.
        let estimate = 1970 + floorDivide(day * 400, by: 146_097)
        return days(estimate, month: 1) > day
            ? estimate - 1 : days(estimate + 1, month: 1) <= day ? estimate + 1 : estimate
    }
}
