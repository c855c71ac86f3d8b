internal import CBuild

/// The one place that says which dogear this is.
public let dogearVersion = "0.1.0"

/// With the commit it was built from, where a package says it: `0.1.0 (1a2b3c4d5e6f)`.
public var dogearBuild: String {
    let commit = String(cString: dogear_commit())
    return commit.isEmpty ? dogearVersion : "\(dogearVersion) (\(commit))"
}
