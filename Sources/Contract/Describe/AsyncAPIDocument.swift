import Contract
import ContractExamples

/// Composes the AsyncAPI document of an API's socket.
struct AsyncAPIDocument<API: ServiceAPI> {
    let title: String
    let version: String
    let examples: Examples

    func made() -> JSONTree {
        let components = Components(api: API.self)
        var messages: [(name: String, sender: FrameExample.Sender, json: JSONTree)] = []
        for frame in API.sections.flatMap(\.frames) {
            let sender: FrameExample.Sender = frame is any ClientFrame.Type ? .client : .server
            let shown = examples.frames.filter { $0.type == frame.type && $0.sender == sender }
            let name = TypeName.of(frame, in: API.self) ?? frame.type
            let payloads = shown.map { payload($0, of: frame, named: name, components) }
            guard let payload = payloads.first else { continue }
            var json: JSONTree = [
                "name": .string(frame.type), "contentType": "application/json", "payload": payload.json,
                "examples": .list(shown.map { ["payload": $0.value.tree] }),
            ]
            if shown.allSatisfy(\.isAddition) { json = json.setting("x-addition", true) }
            messages.append((name, sender, json))
        }
        let target = (examples.frames.first?.path ?? "/").split(separator: "?", maxSplits: 1)
        var binding: JSONTree = ["method": "GET"]
        let parameters = target.dropFirst().first?.split(separator: "&").compactMap { $0.split(separator: "=").first }
        if let parameters {
            // The contracts' sockets have no parameters.
            let properties = parameters.map { JSONTree.Member(String($0), ["type": "string", "x-addition": true]) }
            binding = binding.setting("query", ["type": "object", "properties": .object(properties)])
        }
        return [
            "asyncapi": "3.0.0",
            "info": ["title": .string("\(title): live socket"), "version": .string(version)],
            "defaultContentType": "application/json",
            "channels": [
                "live": [
                    "address": .string(String(target[0])),
                    "messages": .object(
                        messages.map { .init($0.name, ["$ref": .string("#/components/messages/\($0.name)")]) }),
                    "bindings": ["ws": binding],
                ]
            ],
            "operations": [
                "receiveFrame": operation("receive", messages.filter { $0.sender == .client }.map(\.name)),
                "sendFrame": operation("send", messages.filter { $0.sender == .server }.map(\.name)),
            ],
            "components": [
                "messages": .object(messages.map { .init($0.name, $0.json) }),
                "schemas": .object(
                    components.schemas.sorted { $0.name < $1.name }.map {
                        .init($0.name, Schema.object($0.schema).json)
                    }),
            ],
        ]
    }

    /// The server's side of the socket: it receives what clients send.
    private func operation(_ action: String, _ names: [String]) -> JSONTree {
        [
            "action": .string(action), "channel": ["$ref": "#/channels/live"],
            "messages": .list(names.map { ["$ref": .string("#/channels/live/messages/\($0)")] }),
        ]
    }

    private func payload<F: Frame>(
        _ example: FrameExample, of frame: F.Type, named name: String, _ components: Components
    ) -> Schema {
        let trace = Trace()
        for variant in [example.value] + example.value.variants {
            _ = try? TracingDecoder.decode(frame, variant.tree, trace)
        }
        var names = trace.objects.compactMapValues(components.name)
        // The frame itself gets its name below, with its type.
        names[[]] = nil
        guard
            case .object(var object) = components.schema(
                of: example.value, named: names, isAddition: example.isAddition)
        else { return .any }
        if let index = object.properties.firstIndex(where: { $0.name == "type" }) {
            object.properties[index].schema = .only(.string(frame.type))
        }
        return components.add(object, named: name)
    }
}
