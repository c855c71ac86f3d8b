import Testing

@testable import Daemon

/// What the log says, whoever wrote it.
@Suite struct RedactionTests {
    @Test(arguments: [
        ("sent Authorization: Bearer abc.def to it", "sent Authorization: Bearer [removed] to it"),
        ("x-refresh-token: s3cret, then", "x-refresh-token: [removed] then"),
        ("(eyJhbGciOi) 'eyJhbGciOi' a=eyJhbGciOi", "[removed] [removed] [removed]"),
        (#"{"token":"abc","password": "hunter 2"}"#, "[removed] [removed] 2\"}"),
        ("GET /x?token=abc&y=1 failed", "GET [removed] failed"), ("PASSWORD=abc", "[removed]"),
        ("at https://jane:pw@h.example/a?b=c", "at https://[removed]@h.example/a?b=c"),
        ("Keyjob, a monkeyjar and a@b", "Keyjob, a monkeyjar and a@b"),
        ("the password is wrong\nplay", "the password is wrong play"),
    ]) func secretsAreRemoved(text: String, cleaned: String) {
        #expect(Redaction.clean(text) == cleaned)
    }
}
