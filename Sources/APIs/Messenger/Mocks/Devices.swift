import Contract
import ContractMocks
import MessengerAPI
import MessengerExamples

extension Messenger.Device {
    /// The example: Alice's telephone.
    public static let example: Self = contractExample(MessengerExamples.device)
}

extension MessengerMock {
    func devices() {
        server.example(answering: Messenger.RegisterDevice.self) { [memory] request in
            memory.use { memory in
                let token = request.token.lowercased()
                if let index = memory.devices.firstIndex(where: { $0.token == token }) {
                    memory.devices[index].environment = request.environment
                    return Answer(.ok, memory.devices[index])
                }
                let device = Messenger.Device(
                    id: .init(memory.nextDevice), token: token, environment: request.environment)
                memory.nextDevice += 1
                memory.devices = memory.devices.suffix(Messenger.RegisterDevice.maximum - 1) + [device]
                return Answer(.created, device)
            }
        }
        server.example(of: Messenger.RemoveDevice.self) { [memory] request in
            try memory.use { memory in
                guard let index = memory.devices.firstIndex(where: { $0.id == request.id }) else {
                    throw Problem(.notFound, "Device not found")
                }
                memory.devices.remove(at: index)
                return Empty()
            }
        }
    }
}
