import Testing

@testable import ObjectStore

@Suite(.timeLimit(.minutes(30))) struct S3LocationTests {
    private static let key = ObjectKey("a/b.png")

    @Test(arguments: [
        ("s3://bucket", "https://bucket.s3.us-east-1.amazonaws.com/a/b.png"),
        ("s3://bucket/", "https://bucket.s3.us-east-1.amazonaws.com/a/b.png"),
        ("s3://bucket?region=eu-central-1", "https://bucket.s3.eu-central-1.amazonaws.com/a/b.png"),
        ("s3://bucket?style=path", "https://s3.us-east-1.amazonaws.com/bucket/a/b.png"),
        ("s3://a.bucket", "https://s3.us-east-1.amazonaws.com/a.bucket/a/b.png"),
        ("s3://bucket/x/y", "https://bucket.s3.us-east-1.amazonaws.com/x/y/a/b.png"),
        ("s3://bucket/x/y/?style=path", "https://s3.us-east-1.amazonaws.com/bucket/x/y/a/b.png"),
        ("s3://bucket?endpoint=http://127.0.0.1:9000", "http://127.0.0.1:9000/bucket/a/b.png"),
        ("s3://bucket?endpoint=http%3A%2F%2F127.0.0.1%3A9000%2F", "http://127.0.0.1:9000/bucket/a/b.png"),
        ("s3://bucket?endpoint=http://[::1]:9000", "http://[::1]:9000/bucket/a/b.png"),
        ("s3://bucket?endpoint=https://S3.Example.org:443", "https://s3.example.org/bucket/a/b.png"),
        ("s3://bucket?endpoint=http://minio:80", "http://minio/bucket/a/b.png"),
        ("s3://bucket?endpoint=https://e.org&style=virtual&region=auto", "https://bucket.e.org/a/b.png"),
        ("s3://a.bucket?endpoint=http://e.org&style=virtual", "http://a.bucket.e.org/a/b.png"),
    ])
    func `where an object is`(text: String, url: String) throws {
        let location = try S3Location(text)
        let request = SignatureV4.Request(
            method: "GET", host: location.host, path: location.path(of: try #require(Self.key)))
        #expect(location.url(of: request, query: "") == url)
    }

    @Test func `folders follow one another`() throws {
        let location = try S3Location("s3://bucket/files?region=eu-west-1")
        #expect(location.prefix == "files/" && location.region == "eu-west-1" && location.bucketPath == "/")
        #expect(location.folder("messenger").prefix == "files/messenger/")
        #expect(try S3Location("s3://bucket").folder("messenger").prefix == "messenger/")
        #expect(try S3Location("s3://bucket?style=path").bucketPath == "/bucket")
    }

    @Test(arguments: [
        ("", "given as s3://"), ("bucket", "given as s3://"), ("https://bucket", "given as s3://"),
        ("S4://bucket", "given as s3://"), ("s3:bucket", "given as s3://"), ("s3://bucket:9000", "given as s3://"),
        ("s3://", "cannot name a bucket"), ("s3:///x", "cannot name a bucket"), ("s3://ab", "cannot name a bucket"),
        ("s3://Bucket", "cannot name a bucket"), ("s3://-bucket", "cannot name a bucket"),
        ("s3://a..b", "cannot name a bucket"), ("s3://my_bucket", "cannot name a bucket"),
        ("s3://bucket/a//b", "cannot be the folder"), ("s3://bucket/../b", "cannot be the folder"),
        ("s3://bucket/a%20b", "cannot be the folder"),
        ("s3://bucket?regoin=x", "'regoin' is no setting"), ("s3://bucket?region=a&region=b", "region twice"),
        ("s3://bucket?region=", "cannot name a region"), ("s3://bucket?region=evil.org/", "cannot name a region"),
        ("s3://bucket?region", "cannot name a region"), ("s3://bucket?style=dns", "'dns' is no style"),
        ("s3://a.bucket?style=virtual", "style=path only"),
        ("s3://a.bucket?endpoint=https://e.org&style=virtual", "style=path only"),
        ("s3://bucket?endpoint=minio:9000", "must be like"), ("s3://bucket?endpoint=", "must be like"),
        ("s3://bucket?endpoint=ftp://e.org", "must be like"), ("s3://bucket?endpoint=https://", "must be like"),
        ("s3://bucket?endpoint=https://e.org/s3", "must be like"), ("s3://bucket?endpoint=e.org", "must be like"),
        ("s3://bucket?endpoint=https://me:secret@e.org", "must be like"), ("s3://bucket#x", "no user, password"),
        ("s3://me:secret@bucket", "no user, password"),
    ])
    func `errors explain the mistake, without the secret`(text: String, sentence: String) {
        let error = #expect(throws: S3SettingsError.self) { try S3Location(text) }
        #expect(error?.description.contains(sentence) == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("secret") == false)
    }

    @Test func `credentials come from the environment`() throws {
        var environment = ["AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": "sec/ret"]
        #expect(
            try S3Credentials(environment: environment)
                == S3Credentials(accessKeyID: "AKIA", secretAccessKey: "sec/ret"))
        environment["AWS_SESSION_TOKEN"] = "token"
        #expect(try S3Credentials(environment: environment).sessionToken == "token")
        for name in environment.keys {
            var broken = environment
            broken[name] = "sec/ret\n"
            let error = #expect(throws: S3SettingsError.self) { try S3Credentials(environment: broken) }
            #expect(error?.description.hasPrefix(name) == true && error?.description.contains("sec/ret") == false)
        }
        for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] {
            for missing in [nil, ""] {
                var broken = environment
                broken[name] = missing
                let error = #expect(throws: S3SettingsError.self) { try S3Credentials(environment: broken) }
                #expect(error?.description == "Objects on S3 need \(name) to be set")
            }
        }
    }

    @Test func `no way of printing credentials shows the secret`() {
        let credentials = S3Credentials(accessKeyID: "AKIA", secretAccessKey: "sec/ret", sessionToken: "tok/en")
        var dumped = ""
        dump(credentials, to: &dumped)
        dump(SignatureV4(credentials: credentials, region: "x"), to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), dumped] {
            #expect(text.contains("AKIA") && !text.contains("sec/ret") && !text.contains("tok/en"))
        }
    }
}
