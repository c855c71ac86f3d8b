extension StandInVersion {
    /// Every route that this release has, the more exact ones first.
    var routes: [Route] {
        switch self {
        case .v2_25_1: Self.always
        case .v2_30_0: Self.withTokens
        case .v2_36_0: Self.withLists
        }
    }

    private static let withLists = ProgressAnswers.lists + withTokens
    private static let withTokens = AuthAnswers.refreshing + APIKeyAnswers.all + always
    private static let always =
        AuthAnswers.open + ProgressAnswers.all + LibraryAnswers.all + ItemAnswers.all + LocalAnswers.all
        + PlayAnswers.all + TranscodeAnswers.all + SocketAnswers.all
}
