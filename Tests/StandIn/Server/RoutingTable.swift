extension StandInVersion {
    /// Every route that this release has, the more exact ones first.
    var routes: [Route] {
        switch self {
        case .v225: Self.always
        case .v230: Self.withTokens
        case .v236: Self.withLists
        }
    }

    private static let withLists = ProgressAnswers.lists + withTokens
    private static let withTokens = AuthAnswers.refreshing + APIKeyAnswers.all + always
    private static let always =
        AuthAnswers.open + ProgressAnswers.all + LibraryAnswers.all + ItemAnswers.all + LocalAnswers.all
        + PlayAnswers.all + TranscodeAnswers.all + SocketAnswers.all
}
