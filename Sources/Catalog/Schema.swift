/// How the database came to its present form, step by step. A step that was released is never changed.
enum Schema {
  /// "shfs"; tells our database from somebody else's.
  static let application: Int64 = 0x7368_6673

  static let steps: [String] = [
    """
    CREATE TABLE asset(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      volume INTEGER NOT NULL,
      inode INTEGER NOT NULL,
      birth INTEGER NOT NULL,
      size INTEGER NOT NULL,
      modified INTEGER NOT NULL,
      changed INTEGER NOT NULL,
      version INTEGER NOT NULL,
      state INTEGER NOT NULL,
      hidden INTEGER NOT NULL DEFAULT 0,
      queued INTEGER NOT NULL,
      attempts INTEGER NOT NULL DEFAULT 0,
      crashes INTEGER NOT NULL DEFAULT 0,
      unreadable INTEGER NOT NULL DEFAULT 0,
      verdict INTEGER,
      reason TEXT NOT NULL DEFAULT '',
      kind INTEGER,
      uti TEXT,
      mime TEXT,
      container TEXT,
      duration REAL,
      width INTEGER,
      height INTEGER,
      video_codec TEXT,
      audio_codec TEXT,
      frame_rate REAL,
      rotation INTEGER,
      has_audio INTEGER,
      taken TEXT,
      camera_make TEXT,
      camera_model TEXT,
      picture_version INTEGER,
      picture_size INTEGER NOT NULL DEFAULT 0,
      placeholder INTEGER,
      first_seen INTEGER NOT NULL,
      settled_at INTEGER NOT NULL,
      removed_at INTEGER
    ) STRICT;
    CREATE UNIQUE INDEX asset_living ON asset(inode, volume, birth) WHERE state != 3;
    CREATE INDEX asset_gone ON asset(inode, volume, birth) WHERE state = 3;
    CREATE INDEX asset_queue ON asset(queued, id) WHERE state = 1;
    CREATE INDEX asset_state ON asset(state, verdict);
    CREATE TABLE place(path BLOB PRIMARY KEY, asset INTEGER NOT NULL REFERENCES asset(id)) STRICT, WITHOUT ROWID;
    CREATE INDEX place_asset ON place(asset);
    CREATE TABLE setting(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    """,
    """
    CREATE TABLE event(
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      time INTEGER NOT NULL,
      kind TEXT NOT NULL,
      asset INTEGER NOT NULL,
      path BLOB NOT NULL,
      origin BLOB,
      size INTEGER NOT NULL,
      version INTEGER NOT NULL,
      verdict INTEGER,
      reason TEXT NOT NULL,
      media INTEGER,
      uti TEXT NOT NULL,
      mime TEXT NOT NULL
    ) STRICT;
    CREATE TABLE bookmark(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      asset INTEGER NOT NULL,
      volume INTEGER NOT NULL,
      inode INTEGER NOT NULL,
      birth INTEGER NOT NULL,
      folder INTEGER NOT NULL,
      path BLOB NOT NULL,
      size INTEGER NOT NULL,
      fingerprint BLOB NOT NULL,
      user INTEGER NOT NULL,
      read_only INTEGER NOT NULL,
      created INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE token(hash BLOB PRIMARY KEY, bookmark INTEGER NOT NULL REFERENCES bookmark(id)) STRICT, WITHOUT ROWID;
    CREATE INDEX token_bookmark ON token(bookmark);
    CREATE VIRTUAL TABLE name USING fts5(text, tokenize='trigram');
    """,
    """
    CREATE INDEX bookmark_asset ON bookmark(asset);
    """,
    """
    CREATE TABLE unindexed(asset INTEGER PRIMARY KEY) STRICT;
    """,
  ]

  static func version(_ connection: Connection) throws(CatalogError) -> Int {
    try connection.first("PRAGMA user_version") { Int($0.integer(0)) } ?? 0
  }

  /// Brings the database to the newest form.
  static func migrate(_ connection: Connection, steps: [String] = steps) throws(CatalogError) {
    try check(connection, known: steps.count)
    if try version(connection) == steps.count { return }
    try connection.transaction { () throws(CatalogError) in
      // Looked up again: somebody else may have done it before our transaction began.
      let present = try version(connection)
      if present >= steps.count { return }
      for step in steps[present...] { try connection.script(step) }
      try connection.script("PRAGMA user_version=\(steps.count); PRAGMA application_id=\(application)")
    }
  }

  /// Refuses what a newer sharefs wrote and what is no catalog.
  static func check(_ connection: Connection, known: Int = steps.count) throws(CatalogError) {
    let present = try version(connection)
    if present > known {
      throw CatalogError(
        "The catalog was written by a newer sharefs (form \(present), this one knows \(known)). Use that version, or give another --state."
      )
    }
    let mark = try connection.first("PRAGMA application_id") { $0.integer(0) } ?? 0
    let tables = try connection.first("SELECT count(*) FROM sqlite_schema") { $0.integer(0) } ?? 0
    if tables > 0 && mark != application {
      throw CatalogError("The catalog's file holds another program's database. Move it away or give another --state.")
    }
  }
}
