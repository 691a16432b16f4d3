import NIOCore

/// Precedes the HTTP decoder of a new connection. It lets the decoder see one request head and no byte more, until
/// ``SocketUpgrade`` has decided about that head.
///
/// NIO's decoder stops for good after a request that asks for an upgrade. As Hummingbird configures it, it drops its
/// buffer when it is removed. So neither frames nor further requests may reach it before it is certain that they are
/// meant for it.
final class HeadGate: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = Never

    private enum Phase {
        /// Bytes are passed on up to and including the next blank line.
        case scanning
        case holding
        case open
    }

    /// The most bytes of a head: more than any decoder is configured to accept.
    private static let maximumHead = 1 << 18

    private var phase = Phase.scanning
    /// The head that is being scanned, as it was received.
    private var head = ByteBuffer()
    private var isAtLineStart = false
    private var withheld = ByteBuffer()
    private var isReadWithheld = false
    private var isEndWithheld = false
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    /// Stops passing bytes on, while the head is being read. They are kept until ``open(replayingHead:)`` or
    /// ``scanNext()``.
    func hold() {
        phase = .holding
    }

    /// Passes everything on, the kept bytes first, and removes this handler.
    ///
    /// - Parameter replayingHead: Whether the head is sent to the decoder once more, without its `Upgrade` field.
    func open(replayingHead: Bool = false) {
        let wasHolding = phase == .holding
        phase = .open
        // During scanning the call comes from within `channelRead`, which then forwards the rest and removes this
        // handler.
        guard wasHolding, let context else { return }
        release(replayingHead ? [head.withoutUpgradeField(), withheld] : [withheld], context: context)
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    /// Continues with the next head on the same connection.
    func scanNext() {
        guard let context else { return }
        phase = .scanning
        head.clear()
        let bytes = withheld
        withheld = ByteBuffer()
        release([bytes], context: context)
    }

    private func release(_ buffers: [ByteBuffer], context: ChannelHandlerContext) {
        for buffer in buffers where buffer.readableBytes > 0 {
            phase == .scanning ? scan(buffer, context: context) : context.fireChannelRead(wrapInboundOut(buffer))
        }
        context.fireChannelReadComplete()
        if isEndWithheld, phase != .holding {
            isEndWithheld = false
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        if isReadWithheld, phase != .holding {
            isReadWithheld = false
            context.read()
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        scan(unwrapInboundIn(data), context: context)
        if phase == .open {
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        }
    }

    private func scan(_ buffer: ByteBuffer, context: ChannelHandlerContext) {
        var bytes = buffer
        while phase == .scanning, bytes.readableBytes > 0 {
            let (length, isWhole) = lengthToBlankLine(in: bytes)
            guard let piece = bytes.readSlice(length: length) else { return }
            head.writeImmutableBuffer(piece)
            context.fireChannelRead(wrapInboundOut(piece))
            guard phase == .scanning else { break }
            if isWhole {
                // The blank line came before a request line, where the decoder skips it.
                head.clear()
            } else if head.readableBytes > Self.maximumHead {
                // The decoder has refused it already.
                phase = .open
            }
        }
        if phase == .open {
            context.fireChannelRead(wrapInboundOut(bytes))
        } else {
            withheld.writeBuffer(&bytes)
        }
    }

    private func lengthToBlankLine(in bytes: ByteBuffer) -> (Int, isWhole: Bool) {
        for (index, byte) in bytes.readableBytesView.enumerated() {
            switch byte {
            case UInt8(ascii: "\n") where isAtLineStart:
                isAtLineStart = false
                return (index + 1, true)
            case UInt8(ascii: "\n"): isAtLineStart = true
            case UInt8(ascii: "\r"): break
            default: isAtLineStart = false
            }
        }
        return (bytes.readableBytes, false)
    }

    /// Stops reading, too, so that no more than the bytes of one read can accumulate here.
    func read(context: ChannelHandlerContext) {
        if phase == .holding {
            isReadWithheld = true
        } else {
            context.read()
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if phase == .holding, case ChannelEvent.inputClosed? = event as? ChannelEvent {
            isEndWithheld = true
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }
}

extension ByteBuffer {
    /// Returns a request head without its `Upgrade` lines, folded ones included. A server may ignore the field (RFC
    /// 9110 §7.8), and a decoder that has not seen it continues with the next request.
    fileprivate func withoutUpgradeField() -> ByteBuffer {
        var result = ByteBuffer()
        var isDropping = false
        let lines = readableBytesView.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for line in lines.dropLast() {
            if line.first != UInt8(ascii: " "), line.first != UInt8(ascii: "\t") {
                let name = line.prefix { $0 != UInt8(ascii: ":") }
                isDropping = name.count == 7 && String(decoding: name, as: UTF8.self).lowercased() == "upgrade"
            }
            if !isDropping {
                result.writeBytes(line)
                result.writeInteger(UInt8(ascii: "\n"))
            }
        }
        return result
    }
}
