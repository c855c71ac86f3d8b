// swift-tools-version: 6.2
import Glibc
import PackageDescription

/// Every target of ours: Swift 6 mode comes from the tools version, warnings are errors. The tests are found through the
/// index, which needs no chapter on each module of the system: those were a twentieth of a build.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error), .enableUpcomingFeature("InternalImportsByDefault"),
    .unsafeFlags(["-index-ignore-system-modules", "-index-ignore-clang-modules"]),
]

/// A room: a library target named after its idea (pure) or the C library it wraps (edge).
func room(_ name: String, _ dependencies: Target.Dependency...) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: Target.Dependency..., exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: strict)
}

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let sqlite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let flyingFox = Target.Dependency.product(name: "FlyingFox", package: "FlyingFox")
let flyingSocks = Target.Dependency.product(name: "FlyingSocks", package: "FlyingFox")
let toml = Target.Dependency.product(name: "TOMLKit", package: "TOMLKit")

/// The commit a package is built from, as the packaging scripts say it: a build by hand has none.
let commit = Context.environment["DOGEAR_COMMIT"].map { [CSetting.define("DOGEAR_COMMIT", to: $0)] } ?? []

/// What is forwarded to a library that was opened is not to be found by others who look for that library.
let hidden: [CSetting] = [.unsafeFlags(["-fvisibility=hidden"])]

/// pkg-config would name them together with the library, which is not to be linked.
let secretHeaders = "/usr/include/libsecret-1"

/// Where there is one to take, the C++ library of Swift's runtime becomes a part of the program: on its own its three
/// thousand symbols are looked up in thirty libraries at each start, for a tenth of the time that a command takes.
let quickStart: [LinkerSetting] = {
    var found = glob_t()
    defer { globfree(&found) }
    guard glob("/usr/lib/gcc/*/*/libstdc++.a", 0, nil, &found) == 0 else { return [] }
    return [.unsafeFlags(["-L\(Context.packageDirectory)/packaging/link"], .when(configuration: .release))]
}()

let package = Package(
    name: "dogear",
    products: [.executable(name: "dogear", targets: ["dogear"])],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
        .package(url: "https://github.com/LebJe/TOMLKit", from: "0.6.0"),
    ],
    targets: [
        // C libraries behind shims: headers and static inline wrappers, no logic.
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(
            name: "CGStreamer", pkgConfig: "gstreamer-base-1.0",
            providers: [.apt(["libgstreamer-plugins-base1.0-dev"])]),
        .systemLibrary(name: "CGLib", pkgConfig: "gobject-2.0", providers: [.apt(["libglib2.0-dev"])]),

        // C libraries that are opened when they are needed.
        .target(name: "COpened"),
        .target(name: "CCurl", dependencies: ["COpened"], cSettings: hidden),
        .target(name: "CPbutils", dependencies: ["COpened", "CGStreamer"], cSettings: hidden),
        .target(name: "CPulse", dependencies: ["COpened"], cSettings: hidden),
        .target(
            name: "CSecret", dependencies: ["COpened", "CGLib"],
            cSettings: hidden + [.unsafeFlags(["-I\(secretHeaders)"])]),

        // C of our own, where Swift does not reach.
        .target(name: "CBuild", cSettings: commit),
        .target(name: "CMemory"),

        // Pure rooms.
        room("Listening"),
        room("Framing", "Listening"),
        room("HTTP"),
        room("DBus"),
        room("Audiobookshelf", "Listening", "HTTP"),
        room("MPRIS", "Listening", "DBus"),
        room("Control", "CBuild", "Listening", "DBus"),
        room("Launchers", "DBus", "Listening"),
        room("Terminal", "Listening", "Control"),
        room("Screen", "Terminal"),
        room("View", "Screen", "Terminal", "Control", "DBus", "Listening"),

        // Edges.
        room("EventLoop", "CSystemd", "Listening"),
        room("SDBus", "CSystemd", "EventLoop", "DBus"),
        room("Machine", "CMemory", "CSystemd", "SDBus", "EventLoop", "DBus", "Listening"),
        room("Termios", "CSystemd", "EventLoop", "Listening", "Screen"),
        room("SDJournal", "CSystemd", "Control"),
        room("Curl", "CCurl", "EventLoop", "HTTP"),
        room("GStreamer", "CGStreamer", "CPbutils", "CPulse", "EventLoop", "Framing", "Listening"),
        room("LocalFiles", "Folders", "Framing", "Listening"),
        room("Streaming", "EventLoop", "Folders", "HTTP", "Listening"),
        room("Folders", "Listening"),
        .target(
            name: "Secret", dependencies: ["CSecret", "EventLoop", "Listening"],
            swiftSettings: strict + [.unsafeFlags(["-Xcc", "-I\(secretHeaders)"])]),
        room("Store", "EventLoop", "Folders", "Listening", grdb, sqlite),
        room("Settings", "Folders", "Listening", toml),
        room("Catalogue", "Folders", "Listening", grdb),

        // Wiring and the program.
        room(
            "Daemon", "Listening", "HTTP", "DBus", "Audiobookshelf", "MPRIS", "Control", "EventLoop", "SDBus", "Curl",
            "GStreamer", "LocalFiles", "Folders", "Framing", "Machine", "Secret", "Store", "Settings", "Streaming",
            "CSystemd", "Catalogue", "Launchers", "Terminal", logging),
        .executableTarget(
            name: "dogear",
            dependencies: [
                "Catalogue", "Daemon", "Control", "EventLoop", "Folders", "GStreamer", "SDBus", "SDJournal", "DBus",
                "Launchers", "Listening", "Machine", "Screen", "Settings", "Store", "Terminal", "Termios", "View",
                argumentParser, logging,
            ],
            swiftSettings: strict, linkerSettings: quickStart),

        // What tests and the demo run against; never part of the program. Optimised also for debugging: the tests spend
        // much of their time in it.
        .target(
            name: "StandIn", dependencies: [flyingFox, flyingSocks], path: "Tests/StandIn",
            swiftSettings: strict + [.unsafeFlags(["-O"])]),
        .executableTarget(
            name: "standin-server", dependencies: ["StandIn", argumentParser], path: "Tests/standin-server",
            swiftSettings: strict),
        .testTarget(
            name: "StandInTests", dependencies: ["StandIn"], resources: [.copy("Fixtures"), .copy("COVERAGE.md")],
            swiftSettings: strict),
        .target(
            name: "TestSupport",
            dependencies: ["Listening", "HTTP", "EventLoop", "DBus", "SDBus", "Catalogue", "Terminal"],
            path: "Tests/TestSupport",
            swiftSettings: strict),
        tests("ListeningTests", "Listening"),
        tests("FramingTests", "Framing", "Listening", "TestSupport"),
        tests("DBusTests", "DBus"),
        tests("MPRISTests", "MPRIS", "DBus", "Listening"),
        tests("ControlTests", "Control", "DBus"),
        tests("EventLoopTests", "EventLoop", "Listening"),
        tests("SDBusTests", "SDBus", "DBus", "EventLoop", "Listening"),
        tests("MachineTests", "Machine", "DBus", "EventLoop", "Listening", "SDBus", "TestSupport"),
        tests("TerminalTests", "Terminal", "Control", "Listening"),
        tests("ScreenTests", "Screen", "TestSupport"),
        tests("ViewTests", "View", "Screen", "Terminal", "Control", "DBus", "TestSupport"),
        // Runs the built program as a process.
        tests(
            "CommandLineTests", "dogear", "Catalogue", "Control", "DBus", "EventLoop", "Listening", "SDBus", "Store",
            "TestSupport"),
        .executableTarget(
            name: "store-writer", dependencies: ["Store", "Listening"], path: "Tests/store-writer",
            swiftSettings: strict),
        tests("FoldersTests", "Folders", "TestSupport"),
        .testTarget(
            name: "SecretTests", dependencies: ["Secret", "Listening", "TestSupport"],
            swiftSettings: strict + [.unsafeFlags(["-Xcc", "-I\(secretHeaders)"])]),
        tests("SettingsTests", "Settings", "Folders", "Listening", "TestSupport"),
        tests("StoreTests", "Store", "Listening", "TestSupport", "store-writer", grdb, exclude: ["Schemas"]),
        .executableTarget(
            name: "catalogue-bench",
            dependencies: ["Catalogue", "Control", "Listening", "Screen", "Terminal", "TestSupport", "View"],
            path: "Tests/catalogue-bench", swiftSettings: strict),
        tests("CatalogueTests", "Catalogue", "Listening", "TestSupport", grdb),
        tests("LaunchersTests", "Launchers", "DBus"),
        tests("HTTPTests", "HTTP"),
        tests("CurlTests", "Curl", "EventLoop", "HTTP", "TestSupport"),
        tests("StreamingTests", "Streaming", "Curl", "EventLoop", "HTTP", "Listening", "TestSupport"),
        tests(
            "AudiobookshelfTests", "Audiobookshelf", "HTTP", "Listening", "EventLoop", "TestSupport",
            exclude: ["Fixtures"]),
        tests("GStreamerTests", "GStreamer", "CGStreamer", "Listening", "EventLoop", "TestSupport"),
        tests(
            "LocalFilesTests", "LocalFiles", "EventLoop", "Folders", "Framing", "GStreamer", "Listening", "TestSupport"),
        // The daemon's machines and journal against the stand-in, under faults, in time turned by hand.
        tests(
            "FaultTests", "Catalogue", "Daemon", "Store", "Audiobookshelf", "Curl", "HTTP", "Listening", "EventLoop",
            "SDBus", "Folders", "Control", "StandIn", "TestSupport", logging),
        // The built program on real parts.
        tests(
            "EndToEndTests", "dogear", "Control", "DBus", "EventLoop", "Listening", "SDBus", "StandIn", "Store",
            "TestSupport"),
    ]
)
