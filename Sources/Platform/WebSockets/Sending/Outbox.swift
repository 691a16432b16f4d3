import NIOCore

/// The frames of a socket that the kernel has not accepted, in the order in which they are sent.
///
/// They wait here until the end of the event loop's tick. Then they go to the kernel in one system call; what it does not
/// take at once goes to the channel, which sends it when there is room.
struct Outbox {
    /// The frames that have not been passed on.
    private var waiting: [ByteBuffer] = []
    /// All frames that have not been passed on, if they came together.
    private var joined: JoinedFrames?
    /// The frames that the channel has and the kernel has not accepted.
    private var inChannel = 0
    /// The bytes of all frames, less those that the kernel has accepted.
    private(set) var bytes = 0

    /// The number of frames of which the kernel has not accepted every byte.
    var frames: Int { waiting.count + (joined?.frames.count ?? 0) + inChannel }
    var isEmpty: Bool { frames == 0 }

    mutating func append(_ frame: ByteBuffer) {
        part()
        waiting.append(frame)
        bytes += frame.readableBytes
    }

    mutating func append(_ frames: JoinedFrames) {
        if isEmpty {
            joined = frames
        } else {
            part()
            waiting += frames.frames
        }
        bytes += frames.bytes.readableBytes
    }

    /// Takes joined frames apart.
    private mutating func part() {
        guard let joined else { return }
        waiting = joined.frames
        self.joined = nil
    }

    /// Notes a write to the channel by another part of the pipeline, before which nothing may be sent directly.
    mutating func beginForeignWrite() { inChannel += 1 }

    /// Notes that the kernel has accepted a frame from the channel, or that the channel has given it up.
    mutating func endWrite(of size: Int) {
        inChannel -= 1
        bytes -= size
    }

    /// Takes the frames that the channel is to write.
    mutating func passOn() -> [ByteBuffer] {
        part()
        guard !waiting.isEmpty else { return [] }
        let frames = waiting
        inChannel += frames.count
        waiting = []
        return frames
    }

    /// Sends as many waiting frames as the kernel accepts at once. A frame of which it takes a part keeps waiting with the
    /// rest of its bytes. None is sent while the channel has one.
    ///
    /// - Parameters:
    ///   - memory: The memory in which several frames are joined.
    ///   - send: Returns how many of the bytes the kernel has accepted. Errors are left to the channel, which meets them too
    ///     when it writes what is left over here.
    mutating func send(joining memory: UnsafeMutableRawBufferPointer, by send: (UnsafeRawBufferPointer) -> Int) {
        guard inChannel == 0 else { return }
        if let joined {
            let accepted = joined.bytes.withUnsafeReadableBytes(send)
            if accepted == joined.bytes.readableBytes {
                bytes -= accepted
                self.joined = nil
            } else {
                part()
                remove(accepted)
            }
            return
        }
        var sent = 0
        var next = 0
        while next < waiting.count {
            let end = endOfJoinable(from: next, within: memory.count)
            let (accepted, offered) = offer(next..<end, in: memory, by: send)
            sent += accepted
            if accepted < offered { break }
            next = end
        }
        remove(sent)
    }

    /// Returns the end of the frames that fit into the memory, which is behind the first one at least.
    private func endOfJoinable(from first: Int, within size: Int) -> Int {
        var end = first + 1
        var total = waiting[first].readableBytes
        while end < waiting.count, total + waiting[end].readableBytes <= size {
            total += waiting[end].readableBytes
            end += 1
        }
        return end
    }

    private func offer(
        _ frames: Range<Int>, in memory: UnsafeMutableRawBufferPointer, by send: (UnsafeRawBufferPointer) -> Int
    ) -> (accepted: Int, offered: Int) {
        if frames.count == 1 {
            let frame = waiting[frames.lowerBound]
            return (frame.withUnsafeReadableBytes(send), frame.readableBytes)
        }
        var size = 0
        for frame in waiting[frames] {
            frame.withUnsafeReadableBytes { bytes in
                UnsafeMutableRawBufferPointer(rebasing: memory[size...]).copyMemory(from: bytes)
                size += bytes.count
            }
        }
        return (send(UnsafeRawBufferPointer(rebasing: memory[..<size])), size)
    }

    /// Removes bytes from the front.
    private mutating func remove(_ count: Int) {
        guard count > 0 else { return }
        bytes -= count
        var left = count
        var whole = 0
        while whole < waiting.count, waiting[whole].readableBytes <= left {
            left -= waiting[whole].readableBytes
            whole += 1
        }
        if whole == waiting.count {
            // A socket that is idle afterwards should not keep much memory.
            waiting.removeAll(keepingCapacity: waiting.capacity <= 4)
        } else {
            waiting.removeFirst(whole)
            waiting[0].moveReaderIndex(forwardBy: left)
        }
    }
}
