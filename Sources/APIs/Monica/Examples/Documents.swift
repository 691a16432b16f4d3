extension MonicaExamples {
    package static let document = """
        {
          "id": #1,
          "uuid": "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6082",
          "object": = "document",
          "original_filename": "contract.pdf",
          "new_filename": "documents/6f1a2b3c",
          "filesize": 52100,
          "type": "pdf" | null,
          "mime_type": "application/pdf",
          "number_of_downloads": 0,
          "link": "https://monica.example/objects/documents/6f1a2b3c",
          "url": "https://monica.example/api/documents/1",
          "account": \(owner),
          "contact": \(shortContact),
          "created_at": "2024-01-15T10:30:00Z",
          "updated_at": "2024-01-15T10:30:00Z"
        }
        """

    static let documents = files(
        "documents", "document", document, refusals: ["The document field is required."])
}
