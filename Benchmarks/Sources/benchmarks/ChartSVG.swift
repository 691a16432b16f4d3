import Foundation

extension Chart {
    /// A drawing that follows the reader's light or dark colour scheme.
    var svg: String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" role="img">
        <title>\(Self.escaped(title))</title>
        <style>
        :root { --page: #ffffff; --ink: #1c2733; --soft: #5b6b7b; --grid: #dde4ea; --a: #0b62a8; --b: #b3470d;
                --c: #2e7d32; --d: #6a4c93; --e: #8a6d00; }
        @media (prefers-color-scheme: dark) {
          :root { --page: #0f151b; --ink: #e6edf3; --soft: #9fb0c0; --grid: #2a3540; --a: #6cb6ff; --b: #ff9f68;
                  --c: #7fd18a; --d: #c8a6f5; --e: #e0c341; }
        }
        text { font-family: -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; font-size: 11px; fill: var(--soft); }
        .title { font-size: 14px; font-weight: 600; fill: var(--ink); }
        .grid { stroke: var(--grid); }
        .line { fill: none; stroke-width: 2; }
        .label { font-weight: 600; }
        </style>
        <rect width="100%" height="100%" fill="var(--page)"/>
        <text class="title" x="\(Int(Self.left))" y="22">\(Self.escaped(title))</text>
        <text x="\(Int(Self.left))" y="40">\(Self.escaped(vertical))</text>
        <text x="\(Int(Self.right))" y="\(Int(Self.height) - 8)" text-anchor="end">\(Self.escaped(horizontal))</text>
        \(((grid + ticks + drawnLines + labels)).joined(separator: "\n"))
        </svg>

        """
    }

    private static let (width, height) = (640.0, 340.0)
    private static let (left, right, top, bottom) = (56.0, 490.0, 52.0, 290.0)
    private static let colours = ["var(--a)", "var(--b)", "var(--c)", "var(--d)", "var(--e)"]

    private var allX: [Double] { Array(Set(lines.flatMap { $0.points.map(\.x) })).sorted() }

    /// The distance between two lines of the grid: 1, 2 or 5 times a power of ten.
    private var step: Double {
        let highest = lines.flatMap { $0.points.map(\.y) }.max() ?? 1
        let rough = max(highest, 1) / 5
        let power = pow(10, floor(log10(rough)))
        return (([1, 2, 5, 10] as [Double]).first { $0 * power >= rough } ?? 10) * power
    }

    private var top: Double {
        let highest = lines.flatMap { $0.points.map(\.y) }.max() ?? 1
        return (highest / step).rounded(.up) * step
    }

    private func horizontally(_ x: Double) -> Double {
        guard let first = allX.first, let last = allX.last, last > first else { return Self.left }
        return Self.left + (log(x) - log(first)) / (log(last) - log(first)) * (Self.right - Self.left)
    }

    private func vertically(_ y: Double) -> Double { Self.bottom - y / top * (Self.bottom - Self.top) }

    private var grid: [String] {
        stride(from: 0, through: top + step / 2, by: step).flatMap { value in
            let y = Self.number(vertically(value))
            return [
                #"<line class="grid" x1="\#(Self.number(Self.left))" x2="\#(Self.number(Self.right))" y1="\#(y)" y2="\#(y)"/>"#,
                #"<text x="\#(Self.number(Self.left - 6))" y="\#(Self.number(vertically(value) + 4))" text-anchor="end">\#(Self.short(value))</text>"#,
            ]
        }
    }

    private var ticks: [String] {
        allX.map {
            #"<text x="\#(Self.number(horizontally($0)))" y="\#(Self.number(Self.bottom + 18))" text-anchor="middle">\#(Self.short($0))</text>"#
        }
    }

    private var drawnLines: [String] {
        zip(lines, Self.colours).flatMap { line, colour in
            let places = line.points.map { (Self.number(horizontally($0.x)), Self.number(vertically($0.y))) }
            let path = places.map { "\($0.0),\($0.1)" }.joined(separator: " ")
            return [#"<polyline class="line" stroke="\#(colour)" points="\#(path)"/>"#]
                + places.map { #"<circle r="3" fill="\#(colour)" cx="\#($0.0)" cy="\#($0.1)"/>"# }
        }
    }

    /// The names of the lines, each beside its last point but never on top of another.
    private var labels: [String] {
        let wanted = zip(lines, Self.colours).compactMap { line, colour in
            line.points.last.map { (name: line.name, colour: colour, y: vertically($0.y) + 4) }
        }
        var lowest = -Double.infinity
        return wanted.sorted { $0.y < $1.y }.map { label in
            lowest = max(label.y, lowest + 15)
            return
                #"<text class="label" x="\#(Self.number(Self.right + 10))" y="\#(Self.number(lowest))" style="fill: \#(label.colour)">\#(Self.escaped(label.name))</text>"#
        }
    }

    private static func number(_ value: Double) -> String { String(format: "%.1f", value) }

    /// Returns a number as a reader of an axis expects it: 500, 20k, 1M.
    private static func short(_ value: Double) -> String {
        if value >= 1_000_000 { return String(format: "%gM", value / 1_000_000) }
        return value >= 1000 ? String(format: "%gk", value / 1000) : String(format: "%g", value)
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    }
}
