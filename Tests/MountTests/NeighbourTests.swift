import Glibc
import Testing

/// Programs that copy, back up, count and delete are content with a share: what docs/recipes.md promises.
@Suite("Good neighbour", .serialized, .enabled(if: !Mode.possible.isEmpty, "mounting needs /dev/fuse"))
struct NeighbourTests {
  /// A folder of two clips and a share filled with it, then the words of a shell in the folder that holds both.
  private func beside(_ mode: Mode, _ words: String) throws {
    let clip = try Fixtures.clip("red")
    try onShare(mode) { share in
      let result = try share.call(
        "bash",
        [
          "-c",
          """
          set -euo pipefail; cd '\(share.base)'; trap 'echo "line $LINENO failed: $BASH_COMMAND" >&2' ERR
          sharefs() { '\(Share.sharefs)' "$@"; }
          mkdir -p src/sub; cp '\(clip)' src/a.mp4; cp '\(clip)' src/sub/b.mp4
          rsync -a src/ share/; cat share/.thumbs/a.mp4.png share/.thumbs/sub/b.mp4.png >/dev/null

          """ + words,
        ])
      #expect(result.code == 0, "\(result.output)")
    }
  }

  @Test(arguments: Mode.possible) func rsyncAndCopies(mode: Mode) throws {
    try beside(
      mode,
      """
      rsync -a --delete src/ share/; rsync -a --delete src/ share/
      rsync -a --exclude /.thumbs share/ out/; diff -r src out; cp -a share copy; diff -r src copy -x .thumbs
      rsync -a --exclude /.thumbs out/ share/; rm -rf copy/.thumbs; cp -a copy/. share/; diff -r -x .thumbs src share
      """)
  }

  @Test(arguments: Mode.possible) func counting(mode: Mode) throws {
    try beside(
      mode,
      """
      [ "$(du -s --exclude .thumbs share | cut -f 1)" -ge "$(du -s src/a.mp4 | cut -f 1)" ]
      [ "$(du -sb --exclude .thumbs share/a.mp4 | cut -f 1)" = "$(stat -c %s src/a.mp4)" ]
      [ "$(du -s share/.thumbs | cut -f 1)" -gt 0 ]; [ "$(find share -type f -name '*.png' | wc -l)" = 2 ]
      """)
  }

  @Test(arguments: Mode.possible) func backups(mode: Mode) throws {
    try beside(
      mode,
      """
      tar --exclude-caches -cf x.tar share; [ "$(tar tf x.tar | grep -c 'png$\\|html$' || :)" = 0 ]
      [ "$(tar tf x.tar | grep -c 'mp4$')" = 2 ]
      export TMPDIR=$PWD RESTIC_PASSWORD=x BORG_BASE_DIR=$PWD/borg
      if command -v restic >/dev/null; then
        restic -q init -r r; restic -q backup --exclude-caches -r r share
        restic -q -r r ls latest >list; [ "$(grep -c 'mp4$' list)" = 2 ]; [ "$(grep -c 'png$\\|html$' list || :)" = 0 ]
      fi
      if command -v borg >/dev/null; then
        borg init -e none b; borg create --exclude-caches b::1 share
        borg list --short b::1 >list; [ "$(grep -c 'mp4$' list)" = 2 ]; [ "$(grep -c 'png$\\|html$' list || :)" = 0 ]
      fi
      """)
  }

  @Test(arguments: Mode.possible) func deleting(mode: Mode) throws {
    try beside(
      mode,
      """
      find share/sub -delete; [ ! -e share/sub ]; rm -rf share/.thumbs; [ -f share/a.mp4 ]
      rm -rf share/*; [ -z "$(find share -mindepth 1 -not -path 'share/.thumbs*')" ]
      for i in $(seq 100); do [ -z "$(sharefs list --state state share)" ] && exit 0; sleep 0.1; done; exit 1
      """)
  }

  /// Thrown into the desktop's bin and taken out again, it is the same asset.
  @Test(arguments: Mode.possible) func trash(mode: Mode) throws {
    try beside(
      mode,
      """
      asset() { sharefs info --json --state state share/a.mp4 | grep -o '"id":[0-9]*'; }
      before=$(asset); gio trash share/a.mp4; [ ! -e share/a.mp4 ]; [ -z "$(sharefs list --state state share | grep a.mp4 || :)" ]
      mv share/.Trash-$(id -u)/files/a.mp4 share/a.mp4
      for i in $(seq 100); do [ "$(asset 2>/dev/null)" = "$before" ] && exit 0; sleep 0.1; done; exit 1
      """)
  }

  /// One share into another: each has its own thumbnails, and nobody's are copied.
  @Test(arguments: Mode.possible) func shareIntoShare(mode: Mode) throws {
    try beside(
      mode,
      """
      mkdir other; sharefs mount --state state2 "$PWD/other"
      cp -a share/. other/ 2>words || grep -q Read-only words
      [ "$(ls -A other)" = "$(ls -A share)" ]; cat other/.thumbs/a.mp4.png other/.thumbs/sub/b.mp4.png >/dev/null
      rsync -a --exclude /.thumbs share/ other/in/; cat other/.thumbs/in/sub/b.mp4.png >/dev/null
      sharefs umount "$PWD/other"
      """)
  }
}
