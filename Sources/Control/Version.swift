/// The one place that says which dogear this is.
public let dogearVersion = "0.1.0"
