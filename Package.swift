// swift-tools-version: 6.2
import PackageDescription

/// Every Swift target is built under the same, strictest settings; see ARCHITECTURE.md, "Settings".
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]

/// O_PATH, statx, renameat2 and their like are hidden from Swift without it. It stands on the targets and not in a
/// module header, since `fd_set` would then differ between modules.
let gnu: [CSetting] = [.define("_GNU_SOURCE")]

func room(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(name: name, dependencies: dependencies, cSettings: gnu, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(name: name, dependencies: dependencies, cSettings: gnu, swiftSettings: strict)
}

let package = Package(
  name: "sharefs",
  products: [
    .executable(name: "sharefs", targets: ["sharefs"]),
    .executable(name: "sharefs-worker", targets: ["sharefs-worker"]),
  ],
  targets: [
    .systemLibrary(name: "CFuse", pkgConfig: "fuse3", providers: [.apt(["libfuse3-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(
      name: "CLibAV", pkgConfig: "libavformat libavcodec libswscale libavutil",
      providers: [.apt(["libavformat-dev", "libavcodec-dev", "libswscale-dev", "libavutil-dev"])]),
    .systemLibrary(name: "CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
    .target(name: "CLinux", cSettings: gnu),
    .target(name: "CPicture", dependencies: ["CPNG"], cSettings: gnu),

    room("Posix", ["CLinux"]),
    room("Contracts", ["Posix"]),
    room("Fuse", ["CFuse", "CLinux", "Posix"]),
    room("Tree", ["Fuse", "Contracts", "Posix"]),
    room("Media", ["CLibAV", "CPicture", "Contracts", "Posix"]),
    room("Catalog", ["CSQLite", "Contracts", "Posix"]),
    room("Pipeline", ["Catalog", "Contracts", "Posix"]),
    room("Gallery", ["Catalog", "Contracts", "Posix"]),
    room("Control", ["Posix"]),
    .executableTarget(
      name: "sharefs",
      dependencies: ["Tree", "Fuse", "Pipeline", "Catalog", "Gallery", "Control", "Contracts", "Posix"],
      cSettings: gnu, swiftSettings: strict),
    .executableTarget(
      name: "sharefs-worker", dependencies: ["Media", "Contracts", "Posix", "CLinux"],
      cSettings: gnu, swiftSettings: strict),

    .executableTarget(
      name: "media-benchmark", dependencies: ["Contracts", "Posix", "sharefs-worker"], path: "Benchmarks/media",
      cSettings: gnu, swiftSettings: strict),
    .executableTarget(
      name: "filesystem-operations", dependencies: ["CLinux", "Posix"], path: "Benchmarks/operations",
      cSettings: gnu, swiftSettings: strict),

    tests("PosixTests", ["Posix"]),
    tests("ContractsTests", ["Contracts", "Posix"]),
    tests("MediaTests", ["Media", "Contracts", "Posix", "sharefs-worker"]),
    tests("CatalogTests", ["Catalog", "Contracts", "Posix"]),
    tests("GalleryTests", ["Gallery", "Contracts", "Posix"]),
    tests("PipelineTests", ["Pipeline", "Catalog", "Contracts", "Posix", "sharefs-worker", "worker-double"]),
    // Stands in for the worker where a test needs one that crashes, hangs or lies.
    .executableTarget(
      name: "worker-double", dependencies: ["Contracts", "Posix"], path: "Tests/WorkerDouble", cSettings: gnu,
      swiftSettings: strict),
    tests("TreeTests", ["Tree", "Fuse", "Contracts", "Posix"]),
    tests("MountTests", ["Control", "Posix", "sharefs", "sharefs-worker", "worker-double"]),
    .testTarget(
      name: "CommandTests", dependencies: ["sharefs", "sharefs-worker", "Catalog", "Control", "Contracts", "Posix"],
      exclude: ["Snapshots"], cSettings: gnu, swiftSettings: strict),
    tests("HouseTests", []),
  ]
)
