// The declarations of PhotosUI that Examples/ChatApp uses, as Apple's documentation has them.
import Foundation
import SwiftUI

public protocol Transferable {}
extension Data: Transferable {}

public struct UTType: Sendable {
    public var preferredMIMEType: String? { nil }
    public var preferredFilenameExtension: String? { nil }
}

public struct PHPickerFilter: Sendable {
    public static let images = PHPickerFilter()
}

public struct PhotosPickerItem: Hashable, Sendable {
    public var supportedContentTypes: [UTType] { [] }
    public func loadTransferable<T: Transferable>(type: T.Type) async throws -> T? { nil }
}

public struct PhotosPicker: _Primitive {
    public init(_ title: String, selection: Binding<PhotosPickerItem?>, matching filter: PHPickerFilter? = nil) {}
}
