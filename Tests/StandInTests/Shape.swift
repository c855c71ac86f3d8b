import StandIn

/// Compares the shape of two JSON values: same keys, same types, all the way down.
struct Shape: Sendable {
    enum Kind: String, Sendable { case null, bool, number, string, array, object }

    /// The kinds that some recording shows under a key, by `parent.key`. Null and another kind are taken for each other
    /// only where the recordings show both.
    private let kinds: [String: Set<Kind>]
    /// Keys whose values are compared too, when both sides have them at the same place.
    var comparedValues: Set<String> = []
    /// Whether lists of the same length are compared element by element.
    var keepsOrder = true

    init(learningFrom bodies: [JSON]) {
        var kinds: [String: Set<Kind>] = [:]
        for body in bodies { Self.learn(body, under: "", &kinds) }
        self.kinds = kinds
    }

    private static func learn(_ value: JSON, under parent: String, _ kinds: inout [String: Set<Kind>]) {
        switch value {
        case .object:
            for key in value.keys {
                let child = value[key] ?? nil
                kinds[parent + "." + key, default: []].insert(kind(child))
                learn(child, under: key, &kinds)
            }
        case .array(let elements):
            for element in elements { learn(element, under: parent, &kinds) }
        case .null, .bool, .int, .double, .string: break
        }
    }

    static func kind(_ value: JSON) -> Kind {
        switch value {
        case .null: .null
        case .bool: .bool
        case .int, .double: .number
        case .string: .string
        case .array: .array
        case .object: .object
        }
    }

    /// What differs, one line each; empty when the shapes agree.
    /// - Parameter trimmed: the recording's list was cut, so more elements of other shapes may follow.
    func differences(
        expected: JSON, actual: JSON, trimmed: String = "", at path: String = "", under parent: String = ""
    )
        -> [String]
    {
        switch (expected, actual) {
        case (.object, .object):
            return objects(expected, actual, trimmed, path, parent)
        case (.array(let expected), .array(let actual)):
            return arrays(expected, actual, trimmed, path, parent)
        default:
            let (wanted, got) = (Self.kind(expected), Self.kind(actual))
            return wanted == got ? [] : ["\(path): \(wanted) expected, \(got) found"]
        }
    }

    private func objects(_ expected: JSON, _ actual: JSON, _ trimmed: String, _ path: String, _ parent: String)
        -> [String]
    {
        var found: [String] = []
        for key in expected.keys {
            guard let wanted = expected[key] else { continue }
            guard let got = actual[key] else {
                found.append("\(path).\(key): missing")
                continue
            }
            let place = "\(path).\(key)"
            if wanted.isNull != got.isNull {
                let both = kinds[parent + "." + key] ?? []
                if !both.isSuperset(of: [Self.kind(wanted), Self.kind(got)]) {
                    found.append("\(place): \(Self.kind(wanted)) expected, \(Self.kind(got)) found")
                }
            } else {
                found += differences(expected: wanted, actual: got, trimmed: trimmed, at: place, under: key)
            }
            if comparedValues.contains(key), !Self.isSame(wanted, got) {
                found.append("\(place): \(wanted) expected, \(got) found")
            }
        }
        for key in actual.keys where expected[key] == nil && !(key == "libraryItem" && trimmed.contains("libraryItem"))
        {
            found.append("\(path).\(key): not in the recording")
        }
        return found
    }

    private func arrays(_ expected: [JSON], _ actual: [JSON], _ trimmed: String, _ path: String, _ parent: String)
        -> [String]
    {
        guard keepsOrder, trimmed.isEmpty, expected.count == actual.count else {
            return anyOrder(expected, actual, trimmed, path, parent)
        }
        return zip(expected, actual).enumerated().flatMap { index, pair in
            differences(
                expected: pair.0, actual: pair.1, trimmed: trimmed, at: "\(path)[\(index)]", under: parent)
        }
    }

    /// Lists of different length: each element must look like one of the recorded ones.
    private func anyOrder(_ expected: [JSON], _ actual: [JSON], _ trimmed: String, _ path: String, _ parent: String)
        -> [String]
    {
        guard let first = expected.first else { return [] }
        guard !actual.isEmpty else { return ["\(path): empty"] }
        var shapes = self
        shapes.comparedValues = []
        for (index, element) in actual.enumerated() {
            let closest = expected.map {
                shapes.differences(
                    expected: $0, actual: element, trimmed: trimmed, at: "\(path)[\(index)]", under: parent)
            }.min { $0.count < $1.count }
            if let closest, closest.isEmpty {
                if !trimmed.isEmpty { return [] }
            } else if trimmed.isEmpty {
                return closest ?? []
            }
        }
        guard !trimmed.isEmpty else { return [] }
        return shapes.differences(
            expected: first, actual: actual[0], trimmed: trimmed, at: "\(path)[0]", under: parent)
    }

    private static func isSame(_ one: JSON, _ other: JSON) -> Bool {
        if let one = one.number, let other = other.number { return abs(one - other) < 1e-6 }
        return one == other
    }
}
