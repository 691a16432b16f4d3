import ArgumentParser
import Backend

/// The format of a list. Every command that prints one has this option.
struct ListOptions: ParsableArguments {
    @Flag(help: "Print a line of JSON for each entry.")
    var json = false

    var format: ListFormat { json ? .json : .text }
}
