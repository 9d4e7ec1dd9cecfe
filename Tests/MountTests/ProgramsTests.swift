import Testing

/// Programs that ask much of a file system work in a share as in a plain folder.
@Suite("Programs", .serialized, .enabled(if: !Mode.possible.isEmpty, "mounting needs /dev/fuse"))
struct ProgramsTests {
  private func inShare(_ mode: Mode, _ words: String) throws {
    try onShare(mode) { share in
      let result = try share.call(
        "bash",
        [
          "-c",
          """
          set -euo pipefail; trap 'echo "line $LINENO failed: $BASH_COMMAND" >&2' ERR; export TMPDIR='\(share.base)'
          mkdir '\(share.base)/src' && cd '\(share.base)/src'
          mkdir -p deep/er && for i in $(seq 60); do echo "line $i" >"deep/$i.txt"; head -c $((i * 997)) /dev/zero | tr '\\0' x >"deep/er/$i"; done
          ln -s deep/1.txt link; ln deep/2.txt hard; chmod 640 deep/3.txt; touch -d 2001-02-03 deep/4.txt; truncate -s 1M sparse
          setfattr -n user.colour -v blue deep/5.txt
          cd '\(share.folder)'; src='\(share.base)/src'

          """ + words,
        ])
      #expect(result.code == 0, "\(result.output)")
    }
  }

  @Test(arguments: Mode.possible) func versionControl(mode: Mode) throws {
    try inShare(
      mode,
      """
      export HOME=$TMPDIR; git config --global user.name T; git config --global user.email t@example.org; git config --global --add safe.directory '*'
      (cd $src && git init -q && git add . && git commit -qm one && echo more >>deep/1.txt && git commit -qam two)
      git clone -q "$src" copy; cd copy; [ -z "$(git status --porcelain)" ]; git log --oneline | wc -l | grep -qx 2
      for i in $(seq 30); do echo $i >>deep/7.txt; git commit -qam $i; done
      git checkout -q -b other HEAD~10; git checkout -q -; git gc -q --aggressive; git repack -adq; git fsck --full --strict; git worktree add -q ../tree other
      git clone -q --bare . ../bare.git; git -C ../bare.git fsck; cd ..; rm -rf tree copy; git clone -q bare.git again; git -C again fsck
      """)
  }

  @Test(arguments: Mode.possible) func database(mode: Mode) throws {
    try onShare(mode) { share in
      try share.python(
        """
        import sqlite3, threading
        for journal in ("wal", "delete", "truncate", "persist"):
            name = "base-%s.db" % journal; base = sqlite3.connect(name, timeout=30)
            assert base.execute("pragma journal_mode=" + journal).fetchone()[0] == journal
            base.execute("pragma mmap_size=%d" % (64 << 20)); base.execute("create table t (a integer primary key, b blob)"); base.commit()
            def write(start):
                own = sqlite3.connect(name, timeout=60); own.execute("pragma mmap_size=%d" % (64 << 20))
                for i in range(40):
                    with own: own.executemany("insert into t values (?, ?)", [(start * 1000000 + i * 100 + j, os.urandom(500)) for j in range(20)])
                own.close()
            threads = [threading.Thread(target=write, args=(n,), daemon=True) for n in (1, 2)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            # Another process, that is killed in the middle of a transaction.
            pid = os.fork()
            if pid == 0:
                own = sqlite3.connect(name, timeout=30); own.execute("begin immediate"); own.execute("delete from t"); os.kill(os.getpid(), signal.SIGKILL)
            os.waitpid(pid, 0)
            assert base.execute("select count(*) from t").fetchone()[0] == 1600, journal
            assert base.execute("pragma integrity_check").fetchone()[0] == "ok", journal
            base.execute("vacuum"); base.close()
        """)
    }
  }

  @Test(arguments: Mode.possible) func archives(mode: Mode) throws {
    try inShare(
      mode,
      """
      tar --xattrs -cf "$TMPDIR/x.tar" -C "$src" . ; mkdir tar && tar --xattrs -xf "$TMPDIR/x.tar" -C tar; diff -r --no-dereference "$src" tar
      [ "$(stat -c %a.%Y tar/deep/4.txt)" = "$(stat -c %a.%Y "$src/deep/4.txt")" ]; [ tar/hard -ef tar/deep/2.txt ]; [ "$(readlink tar/link)" = deep/1.txt ]
      getfattr --only-values -n user.colour tar/deep/5.txt | grep -qx blue; tar -df "$TMPDIR/x.tar" -C tar
      tar -Scf sparse.tar -C "$src" sparse; mkdir s; tar -xSf sparse.tar -C s; cmp s/sparse tar/sparse; [ "$(stat -c %b s/sparse)" -lt 64 ]
      python3 -c 'import shutil, sys; shutil.make_archive("zip", "zip", sys.argv[1]); shutil.unpack_archive("zip.zip", "zip")' "$src"; diff -r "$src" zip
      cp -a "$src" cp; diff -r --no-dereference "$src" cp; cp -a cp cp2; diff -r --no-dereference cp cp2; mv cp2 tar/moved; diff -r --no-dereference cp tar/moved
      """)
  }

  /// All modes, each with a second run that finds nothing to do.
  @Test(arguments: Mode.possible) func rsync(mode: Mode) throws {
    try inShare(
      mode,
      """
      n=0; for how in --inplace --partial "--partial-dir=.part" --delay-updates --preallocate --append-verify -HAX --whole-file "--inplace --no-whole-file" --sparse "--delete-after --fuzzy" --checksum; do
        n=$((n + 1)); options="-a $how"; rsync $options "$src/" "to$n/"; diff -r --no-dereference "$src" "to$n"
        rsync $options --itemize-changes "$src/" "to$n/" >"$TMPDIR/second"; [ ! -s "$TMPDIR/second" ] || { echo "$how:"; cat "$TMPDIR/second"; exit 1; }
        # Changed, cut, grown and gone.
        echo changed >"to$n/deep/9.txt"; truncate -s 10 "to$n/deep/er/50"; touch -d 2005-01-01 "to$n/deep/er/50"; rm "to$n/deep/10.txt"
        rsync $options -c "$src/" "to$n/" || exit 1; [ "$how" = --append-verify ] || diff -r --no-dereference "$src" "to$n"
      done
      rsync -a to1/ "$TMPDIR/out/"; diff -r --no-dereference to1 "$TMPDIR/out"; rsync -a --delete --itemize-changes "$TMPDIR/out/" to2/ | grep -v '^\\.[fd]' || :
      """)
  }
}
