/// A service that many sockets share.
///
/// A service is a value of more than a kilobyte. A copy in each socket would be a fifth of the memory that an idle one needs.
public final class SharedService<Service: Sendable>: Sendable {
    public let service: Service

    public init(_ service: Service) { self.service = service }
}
