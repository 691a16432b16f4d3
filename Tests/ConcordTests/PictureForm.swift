import ContractCheck

/// A multipart form with one picture.
enum PictureForm {
    /// Returns the form's content type and its bytes.
    static func make(
        _ field: String, _ picture: [UInt8] = SampleImage.jpeg(width: 64, height: 64)
    ) -> (type: String, bytes: [UInt8]) {
        let head = """
            --boundary\r
            Content-Disposition: form-data; name="\(field)"; filename="me.jpg"\r
            Content-Type: image/jpeg\r
            \r

            """
        return (
            "multipart/form-data; boundary=boundary", Array(head.utf8) + picture + Array("\r\n--boundary--\r\n".utf8)
        )
    }
}
