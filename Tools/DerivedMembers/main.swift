// Derives what repeats the stored properties of the APIs' types (Tools/derive). A field is then one line of its struct.
//
// It reads Sources/APIs/*/API/*.swift as text, as `make format` lays it out, and writes a file into API/Derived for each
// source with types that have something derived:
//
// - A memberwise initialiser for each struct with the line
//
//       private init(derived: Never) { switch derived {} }
//
//   which also keeps Swift from making one that is not public. Its parameters are the public properties that can be set from
//   outside, in their order. A property's initial value is the parameter's default. Labels that are not the properties'
//   names are stated in that line, `private init(derived: Never, of user: Never)`, and so are properties that are no
//   parameters: `without tokenType: Never`. A generic struct has its initialiser by hand: in an extension it would be documented
//   with the type's constraints.
// - `CodingKeys` for each coded struct without its own, if a key differs from its property's name. Private properties have
//   none. The first properties of an operation have the names in its route's braces, in their order. The key of an id that is
//   named after its type (`chat: Chat.ID`) is `chat_id`. Other keys are the properties' names. All are in snake case where the
//   API's contract has it (`chatId` elsewhere). Exceptions are in an enumeration in the struct:
//
//       private enum WireNames: String { case query = "q" }
//
// - `encode(to:)` and `write(to:)` for each struct that is declared `WrittenByMembers` and has none of its own.
// - `init(from:)` for each struct that is declared `ReadByMembers` and has none of its own: for APIs with containers that
//   read leniently (Monica/API/Tolerance.swift). What is absent has its property's initial value, else an empty one if its
//   type has one.

import Foundation

/// The APIs whose contracts have keys in snake case.
let snakeCased: Set = ["Messenger", "Monica"]

func swiftFiles(in folder: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasSuffix(".swift") }.sorted().map { folder + "/" + $0 }
}

/// Returns the files of a folder and of the folders in it.
func allSwiftFiles(in folder: String) -> [String] {
    let names = FileManager.default.subpaths(atPath: folder) ?? []
    return names.filter { $0.hasSuffix(".swift") }.sorted().map { folder + "/" + $0 }
}

/// Returns the derived files of an API, by their paths.
func derive(api name: String, core: Declarations) throws -> [String: String] {
    let folder = "Sources/APIs/\(name)/API"
    var (all, perFile): (Declarations, [(Source, [Structure])]) = (core, [])
    for path in swiftFiles(in: folder) {
        let source = try Source(path: path)
        let before = all.structures.count
        try Reader.read(source, into: &all)
        perFile.append((source, Array(all.structures[before...])))
    }
    func names(_ paths: some Sequence<String>) -> Set<String> {
        Set(paths.flatMap { [$0, $0.split(separator: ".").dropFirst().joined(separator: ".")] })
    }
    let written = names(
        all.structures.filter { $0.conformances.contains("WrittenByMembers") }.map(\.path)
            + all.writtenElsewhere)
    let enumerations = names(all.structures.filter { $0.conformances.contains("OpenEnumeration") }.map(\.path))
    var files: [String: String] = [:]
    for (source, structures) in perFile {
        let deriver = Deriver(
            source: source, isSnakeCased: snakeCased.contains(name), api: all, protocols: all.protocols,
            written: written,
            enumerations: enumerations)
        let file = URL(fileURLWithPath: source.path).deletingPathExtension().lastPathComponent
        files["\(folder)/Derived/\(file)+Derived.swift"] = try deriver.file(structures)
    }
    return files
}

func run() throws -> Bool {
    let isCheck = CommandLine.arguments.dropFirst().contains("--check")
    var core = Declarations()
    for path in allSwiftFiles(in: "Sources/Contract/Core") { try Reader.read(Source(path: path), into: &core) }
    core.structures = []
    var isFresh = true
    for api in try FileManager.default.contentsOfDirectory(atPath: "Sources/APIs").sorted() {
        let files = try derive(api: api, core: core)
        let folder = "Sources/APIs/\(api)/API/Derived"
        for path in swiftFiles(in: folder) where files[path] == nil {
            isFresh = false
            if isCheck {
                print("\(path): nothing is derived any more")
            } else {
                try FileManager.default.removeItem(atPath: path)
            }
        }
        for (path, text) in files.sorted(by: { $0.key < $1.key }) {
            guard (try? String(contentsOfFile: path, encoding: .utf8)) != text else { continue }
            isFresh = false
            if isCheck {
                print("\(path): stale")
            } else {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                try text.write(toFile: path, atomically: true, encoding: .utf8)
            }
        }
    }
    if isCheck, !isFresh { print("  ^ run Tools/derive") }
    return isFresh || !isCheck
}

do {
    if try !run() { exit(1) }
} catch let failure as Failure {
    print("\(failure.file):\(failure.line): \(failure.text)")
    exit(1)
} catch {
    print(error)
    exit(1)
}
