import Glibc
import Testing

/// A share that is shared on: what comes through Samba, SFTP and WebDAV is catalogued exactly as what comes through cp.
@Suite("Shared on", .serialized, .enabled(if: geteuid() == 0 && !Mode.possible.isEmpty, "servers are started by root"))
struct SharingTests {
  /// Mounts `$T/clips`, and waits for what `sharefs info` says of a file.
  private static let beginning = """
    export PATH=$programs:$PATH; mkdir -p clips
    sharefs mount --state "$T/state" "$T/clips"
    # Whatever happens, nothing is left running.
    finish() { local p; for p in $(cat "$T"/*.pid 2>/dev/null); do kill "$p" 2>/dev/null || :; done; sharefs umount --lazy "$T/clips" || :; }
    trap finish EXIT
    # Of what is not whole, it ends with 3.
    verdict() { { sharefs info --json --state "$T/state" "$T/clips/$1" || :; } | grep -o '"verdict":"[a-z]*"' | grep -q "$2"; }

    """

  @Test(.enabled(if: Script.has("smbd") && Script.has("smbclient"), "samba is not installed")) func throughSamba()
    throws
  {
    let clip = try Fixtures.clip("red", seconds: 5, size: "640x360")
    let large = try Fixtures.made(
      "large.mp4",
      ["-f", "lavfi", "-i", "testsrc2=s=640x360:r=25:d=10", "-c:v", "mpeg4", "-q:v", "1", "-movflags", "+faststart"])
    try Script.run(
      Self.beginning + """
        # The snippet as it is installed, with another path, and a server of our own around it.
        port=$((20000 + RANDOM % 20000))
        {
          printf '[global]\\nsmb ports = %s\\ninterfaces = lo\\nbind interfaces only = yes\\nserver role = standalone server\\n' $port
          printf 'disable netbios = yes\\nload printers = no\\nlog file = %s/smb.log\\n' "$T"
          for folder in 'private dir' 'lock directory' 'state directory' 'cache directory' 'pid directory' 'ncalrpc dir'; do
            mkdir -p "$T/smb"; printf '%s = %s/smb\\n' "$folder" "$T"
          done
          sed "s|/srv/clips|$T/clips|" "$root/mount-scripts/system/smb.conf.example"
        } >smb.conf
        testparm -s smb.conf >words 2>&1 || { cat words; exit 1; }
        printf 'secret\\nsecret\\n' | smbpasswd -c "$T/smb.conf" -L -s -a root >/dev/null
        smbd -s "$T/smb.conf" -F >smbd.out 2>&1 & echo $! >smbd.pid
        client() { smbclient -s "$T/smb.conf" -p $port -U root%secret //127.0.0.1/clips -c "$1"; }
        await client ls
        client "mkdir sub; put \\"\(clip)\\" sub/one.mp4; put \\"\(clip)\\" two.mp4"
        await verdict sub/one.mp4 ready; await verdict two.mp4 ready
        client 'cd .thumbs/sub; ls' | grep -q one.mp4.png
        client 'get .thumbs/sub/one.mp4.png got.png'; cmp got.png clips/.thumbs/sub/one.mp4.png
        client 'get two.mp4 got.mp4'; cmp got.mp4 '\(clip)'
        # Renamed: the same asset. Deleted: gone.
        id() { sharefs info --json --state "$T/state" "$T/clips/$1" | grep -o '"id":[0-9]*'; }
        before=$(id two.mp4); client 'rename two.mp4 sub/three.mp4'; await id sub/three.mp4; [ "$(id sub/three.mp4)" = "$before" ]
        client 'del sub/one.mp4'; await refuses test -e clips/.thumbs/sub/one.mp4.png
        # Sent slowly: being written until its end, then ready. Broken off: told apart.
        mkfifo slow
        feed() { { head -c 1500000 '\(large)'; sleep $1; tail -c +1500001 '\(large)'; } >slow 2>/dev/null & echo $! >feeder.pid; }
        writing() { { sharefs info --state "$T/state" "$T/clips/$1" 2>&1 || :; } | grep -q 'being written'; }
        feed 4; client 'put slow pieces.mp4' & await writing pieces.mp4
        await verdict pieces.mp4 ready; cmp clips/pieces.mp4 '\(large)'; rm feeder.pid
        feed 30; smbclient -s "$T/smb.conf" -p $port -U root%secret //127.0.0.1/clips -c 'put slow cut.mp4' >/dev/null 2>&1 & client=$!
        await writing cut.mp4; kill -9 $client; await verdict cut.mp4 incomplete
        # What macOS leaves beside others is stored and not catalogued.
        echo x >._one.mp4; client 'put ._one.mp4; put ._one.mp4 .DS_Store'
        [ -z "$(sharefs list --state "$T/state" "$T/clips" | grep '\\._\\|DS_Store' || :)" ]
        [ "$(sharefs status --json "$T/clips" | grep -c '"last_errors":\\[\\]')" = 1 ]
        """, apart: true)
  }

  @Test(.enabled(if: Script.has("sshd") && Script.has("sftp"), "openssh is not installed")) func throughSFTP() throws {
    let clip = try Fixtures.clip("red", seconds: 5, size: "640x360")
    try Script.run(
      Self.beginning + """
        port=$((20000 + RANDOM % 20000)); mkdir -p /run/sshd
        ssh-keygen -q -N '' -t ed25519 -f host; ssh-keygen -q -N '' -t ed25519 -f key
        printf 'Port %s\\nListenAddress 127.0.0.1\\nHostKey %s/host\\nAuthorizedKeysFile %s/key.pub\\nStrictModes no\\nPermitRootLogin yes\\n' $port "$T" "$T" >sshd
        printf 'PidFile none\\nUsePAM no\\nSubsystem sftp internal-sftp\\n' >>sshd
        /usr/sbin/sshd -D -f "$T/sshd" -E "$T/sshd.log" & echo $! >sshd.pid
        client() { printf '%s\\n' "$@" | sftp -q -b - -i "$T/key" -P $port -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null root@127.0.0.1; }
        await client ls
        client "mkdir $T/clips/sub" "put '\(clip)' $T/clips/sub/one.mp4" "get $T/clips/.thumbs/sub/one.mp4.png got.png"
        await verdict sub/one.mp4 ready; cmp got.png clips/.thumbs/sub/one.mp4.png
        client "rename $T/clips/sub/one.mp4 $T/clips/two.mp4"; await verdict two.mp4 ready
        client "rm $T/clips/two.mp4" "rmdir $T/clips/sub"; await refuses test -e clips/.thumbs/two.mp4.png
        """, apart: true)
  }

  @Test(.enabled(if: Script.has("rclone"), "rclone is not installed")) func throughWebDAV() throws {
    let clip = try Fixtures.clip("red", seconds: 5, size: "640x360")
    try Script.run(
      Self.beginning + """
        port=$((20000 + RANDOM % 20000))
        rclone serve webdav --config "$T/none" --addr 127.0.0.1:$port "$T/clips" >rclone.log 2>&1 & echo $! >rclone.pid
        at=http://127.0.0.1:$port
        await curl -sf $at/
        curl -sf -X MKCOL $at/sub; curl -sf -T '\(clip)' $at/sub/one.mp4
        await verdict sub/one.mp4 ready
        curl -sf -o got.png $at/.thumbs/sub/one.mp4.png; cmp got.png clips/.thumbs/sub/one.mp4.png
        curl -sf -X MOVE -H "Destination: $at/two.mp4" $at/sub/one.mp4; await verdict two.mp4 ready
        curl -sf -X DELETE $at/two.mp4; await refuses test -e clips/.thumbs/two.mp4.png
        """, apart: true)
  }
}
