import Glibc
import Testing

/// Installed as an administrator installs it, and mounted as the system mounts.
@Suite("Installing", .serialized, .enabled(if: geteuid() == 0 && !Mode.possible.isEmpty, "only root installs"))
struct InstallTests {
  /// What is put there is what is taken away, in each form.
  @Test func comesAndGoes() throws {
    try Script.run(
      """
      empty_sbin
      "$root/mount-scripts/install" --from "$programs" --prefix "$T/p" 2>words
      grep -q 'installed in' words
      [ "$(readlink /usr/sbin/mount.sharefs)" = "$T/p/bin/sharefs" ]
      "$T/p/bin/sharefs" --version | grep -q '^sharefs '
      [ -s "$T/p/share/man/man8/mount.sharefs.8" ]
      # Again over itself.
      "$root/mount-scripts/install" --from "$programs" --prefix "$T/p" 2>words
      "$root/mount-scripts/uninstall" --prefix "$T/p"
      [ "$(find "$T/p" -mindepth 1 | wc -l)" = 0 ]; [ ! -L /usr/sbin/mount.sharefs ]
      refuses "$root/mount-scripts/uninstall" --prefix "$T/p" 2>words
      # Somebody else's helper is left alone.
      touch /usr/sbin/mount.sharefs
      refuses "$root/mount-scripts/install" --from "$programs" --prefix "$T/p" 2>words
      grep -q 'not ours' words; [ -f /usr/sbin/mount.sharefs ]
      # For one user, with a file of the user's beside it.
      rm /usr/sbin/mount.sharefs; mkdir -p .local/bin; touch .local/bin/mine
      "$root/mount-scripts/install" --user --from "$programs" 2>words
      [ -x .local/bin/sharefs ]; [ -x .local/libexec/sharefs/sharefs-worker ]; [ ! -e /usr/sbin/mount.sharefs ]
      grep -qF "$T/.local/bin/sharefs mount" .local/share/systemd/user/sharefs@.service
      "$root/mount-scripts/uninstall" --user
      [ "$(find .local -type f)" = .local/bin/mine ]
      """, apart: true)
  }

  /// mount(8), its options, fstab, umount(8), and the way back after a crash.
  @Test func mountsLikeASystem() throws {
    let clip = try Fixtures.clip("red")
    try Script.run(
      """
      empty_sbin
      "$root/mount-scripts/install" --from "$programs" --prefix "$T/p" 2>words
      PATH=$T/p/bin:$PATH; mkdir src dst clips
      mount -t fuse.sharefs "$T/src" "$T/dst" -o rw,nosuid,nodev,noatime,nodiratime,_netdev,nofail,noauto,user,users,owner,defaults,relatime,x-systemd.automount,x-gvfs-show,X-mount.mkdir,comment=hello,thumb_size=160x90
      findmnt -no FSTYPE,SOURCE "$T/dst" | grep -q "fuse.sharefs *$T/src"
      findmnt -no OPTIONS "$T/dst" | grep nosuid | grep noatime | grep -q nodev
      cp '\(clip)' dst/a.mp4; [ "$(file -b dst/.thumbs/a.mp4.png)" != '' ]
      umount "$T/dst"; await ended "$T/dst"
      # The same by its other names.
      mount -t sharefs "$T/src" "$T/dst"; umount "$T/dst"; await ended "$T/dst"
      ln -s "$T/p/bin/sharefs" /usr/sbin/sharefs
      mount -t fuse "sharefs#$T/src" "$T/dst"; umount "$T/dst"; await ended "$T/dst"
      # From fstab: in place, by the mount point alone.
      printf '%s %s fuse.sharefs noauto,nofail,allow_other,ro 0 0\\n' "$T/clips" "$T/clips" >fstab
      mount --fstab "$T/fstab" "$T/clips"
      refuses touch clips/x 2>words
      # Twice is refused with mount(8)'s own code, and a helper that fails is believed.
      code=0; mount --fstab "$T/fstab" "$T/clips" 2>words || code=$?; [ $code = 32 ]
      # Other flags while it is mounted: those of the kernel, with all that fstab and the table of mounts say besides.
      mount --fstab "$T/fstab" -o remount,rw "$T/clips"; touch clips/x
      mount -o remount,ro,noexec "$T/clips"; refuses touch clips/y 2>words; findmnt -no OPTIONS "$T/clips" | grep noexec | grep -q '^ro'
      code=0; mount -o remount,thumbs=off "$T/clips" 2>words || code=$?; [ $code = 32 ]; grep -q 'can be changed' words
      code=0; mount -t fuse.sharefs "$T/src" "$T/dst" -o remount 2>words || code=$?; [ $code = 32 ]; grep -q 'nothing to remount' words
      # A crash: the mount is dead, and the same line mounts it again.
      kill -9 "$(sharefs status --json "$T/clips" | sed 's/.*"pid":\\([0-9]*\\).*/\\1/')"; await refuses ls "$T/clips"
      code=0; mount --fstab "$T/fstab" "$T/clips" -o remount 2>words || code=$?; [ $code = 32 ]; grep -q 'without `remount`' words
      mount --fstab "$T/fstab" "$T/clips"; ls clips
      umount "$T/clips"; await ended "$T/clips"
      # A user's line, by that user: mount(8) leaves the helper no environment, so the home comes from the list of users.
      printf '%s %s fuse.sharefs noauto,user,_netdev,x-systemd.automount,comment=mine 0 0\\n' "$T/mine" "$T/mine" >fstab
      mkdir mine home; chown 1234 mine home; cp /etc/passwd passwd; echo "someone:x:1234:1234::$T/home:/bin/sh" >>passwd
      mount --bind passwd /etc/passwd; mount --bind fstab /etc/fstab
      someone() { setpriv --reuid=1234 --regid=1234 --clear-groups "$@"; }
      someone mount "$T/mine"; someone cp '\(clip)' mine/a.mp4; someone cat mine/.thumbs/a.mp4.png >/dev/null
      [ -d home/.local/share/sharefs ]; someone env HOME="$T/home" sharefs list "$T/mine" | grep -q ready
      someone umount "$T/mine"; await ended "$T/mine"
      # What is not known is refused by name, or passed over when mount(8) is told to be sloppy; a trial changes nothing.
      code=0; mount.sharefs "$T/src" "$T/dst" -o bogus 2>words || code=$?; [ $code != 0 ]; grep -q bogus words
      mount.sharefs "$T/src" "$T/dst" -sn -o bogus; umount "$T/dst"; await ended "$T/dst"
      mount.sharefs "$T/src" "$T/dst" -f; refuses mountpoint -q "$T/dst"
      """, apart: true)
  }

  /// In place on an automount, the daemon would wait for itself: it is refused, at once.
  @Test func refusesToCoverAnAutomount() throws {
    try Script.run(
      """
      mkdir auto
      timeout 20 python3 - <<'END'
      import ctypes, os, subprocess, sys
      libc = ctypes.CDLL(None, use_errno=True)
      folder = os.environ['T'] + '/auto'
      reading, writing = os.pipe2(0)
      options = f'fd={writing},pgrp={os.getpgrp()},minproto=5,maxproto=5,direct'
      if libc.mount(b'test', folder.encode(), b'autofs', 0, options.encode()) != 0:
          print('no autofs here:', os.strerror(ctypes.get_errno())); sys.exit(0)
      try:
          done = subprocess.run([os.environ['programs'] + '/sharefs', 'mount', folder], capture_output=True, text=True,
                                timeout=10, start_new_session=True)
      finally:
          libc.umount2(folder.encode(), 2)
      assert done.returncode == 32 and 'automount' in done.stderr, done
      END
      """, apart: true)
  }

  /// The package has all files, names the libraries it needs, and leaves nothing when it is purged.
  @Test(.enabled(if: Script.has("dpkg-shlibdeps"))) func isAPackage() throws {
    try Script.run(
      """
      deb=$("$root/mount-scripts/package" --from "$programs" "$T" 2>words) || { cat words; exit 1; }
      dpkg-deb --field "$deb" Depends >depends
      for library in fuse3 libavcodec libavformat libpng16 libsqlite3 libfuse3 libc6; do grep -q "$library" depends; done
      mkdir -p r/var/lib/dpkg/info r/var/lib/dpkg/updates; : >r/var/lib/dpkg/status; : >r/var/lib/dpkg/available
      mkdir -p r/usr/sbin r/usr/bin r/var/cache r/var/lib
      find r -mindepth 1 | sort >before
      dpkg --root="$T/r" --force-depends --force-script-chrootless -i "$deb" >words 2>&1 || { cat words; exit 1; }
      [ "$(readlink r/usr/sbin/mount.fuse.sharefs)" = /usr/bin/sharefs ]
      for file in usr/bin/sharefs usr/libexec/sharefs/sharefs-worker usr/share/man/man1/sharefs.1.gz usr/share/man/man8/mount.sharefs.8.gz \\
        usr/lib/systemd/user/sharefs@.service usr/share/bash-completion/completions/sharefs \\
        usr/share/zsh/vendor-completions/_sharefs usr/share/fish/vendor_completions.d/sharefs.fish \\
        usr/share/doc/sharefs/copyright usr/share/doc/sharefs/examples/smb.conf.example; do [ -s "r/$file" ]; done
      refuses grep -rI "$T" r/usr/lib/systemd
      (cd r && md5sum --quiet -c var/lib/dpkg/info/sharefs.md5sums)
      mkdir -p r/var/lib/sharefs/a r/var/cache/sharefs/a
      dpkg --root="$T/r" --force-script-chrootless --purge sharefs >words 2>&1 || { cat words; exit 1; }
      find r -mindepth 1 -not -path 'r/var/lib/dpkg/*' | sort >after
      [ -z "$(comm -13 before after)" ]
      """)
  }
}
