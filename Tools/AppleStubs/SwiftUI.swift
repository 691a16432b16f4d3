// The declarations of SwiftUI that Examples/ChatApp and the views of the articles use, as Apple's documentation has them.
import Foundation
@_exported import Observation

@MainActor public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor var body: Body { get }
}

extension Never: View {
    public var body: Never { fatalError() }
}

public protocol _Primitive: View where Body == Never {}
extension _Primitive {
    public var body: Never { fatalError() }
}

@resultBuilder public enum ViewBuilder {
    public static func buildBlock() -> EmptyView { EmptyView() }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<(repeat each Content)> {
        TupleView()
    }
    public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<A: View, B: View>(first: A) -> _Either<A, B> { _Either() }
    public static func buildEither<A: View, B: View>(second: B) -> _Either<A, B> { _Either() }
}

public struct EmptyView: _Primitive {
    public init() {}
}
public struct TupleView<Content>: _Primitive {
    init() {}
}
public struct _Either<A: View, B: View>: _Primitive {}
extension Optional: View where Wrapped: View {
    public var body: Never { fatalError() }
}

@MainActor public protocol App {
    associatedtype Body: Scene
    @SceneBuilder @MainActor var body: Body { get }
    @MainActor init()
}
extension App {
    @MainActor public static func main() {}
}
@MainActor public protocol Scene {}
@resultBuilder public enum SceneBuilder {
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}
public struct WindowGroup<Content: View>: Scene {
    public init(@ViewBuilder content: () -> Content) {}
}

@propertyWrapper public struct State<Value> {
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }
    public var projectedValue: Binding<Value> { fatalError() }
}
@propertyWrapper public struct Binding<Value> {
    public init(get: @escaping () -> Value, set: @escaping (Value) -> Void) {}
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }
}

public struct HorizontalAlignment: Sendable {
    public static let leading = HorizontalAlignment()
    public static let center = HorizontalAlignment()
}

public struct Text: _Primitive {
    public init<S: StringProtocol>(_ content: S) {}
}
public struct TextField: _Primitive {
    public init(_ title: String, text: Binding<String>) {}
}
public struct SecureField: _Primitive {
    public init(_ title: String, text: Binding<String>) {}
}
public struct Button: _Primitive {
    public init(_ title: String, action: @escaping @MainActor () -> Void) {}
}
public struct ProgressView: _Primitive {
    public init<V: BinaryFloatingPoint>(value: V?, total: V = 1.0) {}
}
public struct Image: _Primitive {
    public func resizable() -> Image { self }
}
public struct AsyncImagePhase: Sendable {
    public var image: Image? { nil }
}
public struct AsyncImage<Content: View>: _Primitive {
    public init(url: URL?, @ViewBuilder content: @escaping (AsyncImagePhase) -> Content) {}
}
@MainActor public protocol PreviewProvider {
    associatedtype Previews: View
    @ViewBuilder @MainActor static var previews: Previews { get }
}
public struct HStack<Content: View>: _Primitive {
    public init(@ViewBuilder content: () -> Content) {}
}
public struct VStack<Content: View>: _Primitive {
    public init(alignment: HorizontalAlignment = .center, @ViewBuilder content: () -> Content) {}
}
public struct List<Content: View>: _Primitive {
    public init(@ViewBuilder content: () -> Content) {}
    public init<Data: RandomAccessCollection, Row: View>(
        _ data: Data, @ViewBuilder rowContent: @escaping (Data.Element) -> Row
    ) where Content == ForEach<Data, Row>, Data.Element: Identifiable {}
}
public struct ForEach<Data: RandomAccessCollection, Content: View>: _Primitive {
    public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content)
    where Data.Element: Identifiable {}
}
public struct NavigationStack<Root: View>: _Primitive {
    public init(@ViewBuilder root: () -> Root) {}
}
public struct NavigationLink<Label: View>: _Primitive {
    public init<Value: Hashable>(value: Value?, @ViewBuilder label: () -> Label) {}
}

extension View {
    public func padding() -> some View { self }
    public func scaledToFit() -> some View { self }
    public func frame(maxHeight: Double) -> some View { self }
    public func badge(_ count: Int) -> some View { self }
    public func navigationTitle(_ title: String) -> some View { self }
    public func toolbar<Content: View>(@ViewBuilder content: () -> Content) -> some View { self }
    public func refreshable(action: @escaping @Sendable () async -> Void) -> some View { self }
    public func onSubmit(_ action: @escaping () -> Void) -> some View { self }
    public func task(_ action: sending @escaping @isolated(any) () async -> Void) -> some View { self }
    public func task<ID: Equatable>(
        id value: ID, _ action: sending @escaping @isolated(any) () async -> Void
    ) -> some View { self }
    public func onChange<Value: Equatable>(of value: Value, _ action: @escaping () -> Void) -> some View { self }
    public func navigationDestination<Item: Hashable, Content: View>(
        for data: Item.Type, @ViewBuilder destination: @escaping (Item) -> Content
    ) -> some View { self }
}
