internal import Control
internal import EventLoop
internal import Listening
internal import Logging
internal import Store

/// The speed: chosen for an item it holds for its series or podcast too, wherever an item of those has none of its own.
extension Service {
    /// What an item is played at, and whose speed that is: an id of ``Item/rateKeys``, or nil: the default.
    func rate(of item: Item) async -> (key: ItemID?, rate: Double) {
        do throws(StoreError) {
            if let found = try await store.rate(among: item.rateKeys) { return (found.key, found.rate) }
        } catch {
            log.warning("the journal could not be read", metadata: ["why": "\(error)"])
        }
        return (nil, settings.rate)
    }

    /// The listener chose it for the present item.
    func remember(_ rate: Double) {
        guard let item = player.item else { return }
        let changed = rateKey != item.id
        rateKey = item.id
        store.post(item.rateKeys.map { .rate($0, rate) })
        if changed { announceStatus() }
    }

    func forgetSpeed() async throws(ControlError) -> StatusReport {
        let item = try loadedItem()
        do throws(StoreError) { try await store.write(item.rateKeys.map { .rate($0, nil) }) } catch {
            throw ControlError(.failed, "\(error)")
        }
        if player.item?.id == item.id {
            rateKey = nil
            send(.rate(settings.rate, isChosen: false))
            announceStatus()
        }
        return statusReport()
    }
}

extension ItemID? {
    /// As ``StatusReport/rateOf`` names it.
    var rateOwner: String {
        switch self?.source {
        case nil: "default"
        case "series": "series"
        case "podcast": "podcast"
        default: "item"
        }
    }
}
