import Glibc
import Testing

/// The commands of docs/recipes.md are run as they stand there, as root in a copy of the system's folders and in a network of their own.
@Suite(
  "Recipes", .serialized,
  .enabled(if: geteuid() == 0 && !Mode.possible.isEmpty, "recipes of an administrator need root")
)
struct RecipeTests {
  private static let beginning = """
    # block TITLE N: the commands as they stand in the document.
    block() {
      awk -v title="## $1" -v wanted="$2" '
        /^## / { on = $0 == title; number = 0 }
        { if (/^    / && !inside) number++; inside = /^    /; if (on && inside && number == wanted) print substr($0, 5) }
      ' "$root/docs/recipes.md" >"$T/block.$2"
      [ -s "$T/block.$2" ] || { echo "docs/recipes.md has no recipe \\"$1\\", $2" >&2; return 1; }
    }
    follow() { block "$@"; bash -euo pipefail "$T/block.$2"; }
    # serve NAME TITLE N: goes on; what it says is in NAME.out.
    serve() { block "$2" "$3"; mv "block.$3" "$1.sh"; setsid bash "$1.sh" >"$1.out" 2>&1 & echo $! >>servers; }
    finish() {
      local process
      for process in $(cat "$T/servers" 2>/dev/null || :); do kill -- "-$process" 2>/dev/null || :; done
      for process in $(cat /run/samba/smbd.pid /run/sshd.pid 2>/dev/null || :); do kill "$process" || :; done
      for share in ~/share /srv/clips; do /usr/local/bin/sharefs umount --lazy "$share" 2>/dev/null || :; done
    }
    trap finish EXIT
    # What an administrator changes is changed here alone.
    for folder in /media /srv /usr/local; do mount -t tmpfs -o mode=755 apart $folder; done
    cp -a /etc "$T/etc"; mount --bind "$T/etc" /etc

    """

  private func run(_ words: String) throws {
    let clip = try Fixtures.clip("red")
    try Script.run("clip='\(clip)'\n" + Self.beginning + words, apart: true)
  }

  @Test func aShareOfOnesOwn() throws {
    try run(
      """
      # mount(8)'s helpers are no part of this.
      "$root/mount-scripts/install" --from "$programs" --user --prefix /usr/local 2>/dev/null; mkdir ~/share
      sharefs mount ~/share
      mkdir -p /media/card/DCIM/100; cp "$clip" /media/card/DCIM/100/a.mp4; cp "$clip" /media/card/DCIM/100/b.mp4
      follow "Take in a camera's card" 1 >said; grep -q 'all is whole' said; cmp "$clip" ~/share/card/100/b.mp4
      head -c $(($(stat -c %s "$clip") / 2)) "$clip" >/media/card/DCIM/100/cut.mp4
      refuses follow "Take in a camera's card" 1 >said 2>words; [ ! -s said ]; grep -q 'cut.mp4 is incomplete' words
      serve dlna "A media server that sees whole files alone" 1
      browse() {
        curl -sf -H 'SOAPAction: "urn:schemas-upnp-org:service:ContentDirectory:1#Browse"' -H 'Content-Type: text/xml' --data-binary "<?xml version=\\"1.0\\"?>
      <s:Envelope xmlns:s=\\"http://schemas.xmlsoap.org/soap/envelope/\\" s:encodingStyle=\\"http://schemas.xmlsoap.org/soap/encoding/\\"><s:Body>
      <u:Browse xmlns:u=\\"urn:schemas-upnp-org:service:ContentDirectory:1\\"><ObjectID>$1</ObjectID><BrowseFlag>BrowseDirectChildren</BrowseFlag>
      <Filter>*</Filter><StartingIndex>0</StartingIndex><RequestedCount>0</RequestedCount><SortCriteria></SortCriteria></u:Browse></s:Body></s:Envelope>" http://127.0.0.1:7879/ctl
      }
      offers() { browse "$1" | grep -q "$2"; }
      await offers 0 card
      offers %2Fcard%2F100 a.mp4; refuses offers %2Fcard%2F100 cut.mp4
      # A new one is offered once it is whole, within the ten seconds, and not before.
      exec 3>~/share/card/100/new.mp4; head -c 500 "$clip" >&3; refuses test -e ~/share/.ready/card/100/new.mp4
      tail -c +501 "$clip" >&3; exec 3>&-; await offers %2Fcard%2F100 new.mp4
      serve script "A script that acts on what arrives" 1; serve notify "A script that acts on what arrives" 2
      number=0
      # arrives FILE TEXT: whoever listens is told of what comes from then on.
      arrives() { cp "$clip" ~/share/$((number += 1)).mp4; sleep 0.2; grep -q "$2" "$1"; }
      await arrives ~/arrived "$(date +%F) .*/share/[0-9]*.mp4: $(sha256sum <"$clip" | cut -c 1-8)"
      await arrives notify.out '^[0-9]*.mp4 is there$'
      """)
  }

  @Test func aServer() throws {
    try run(
      """
      # mount(8)'s helpers are no part of Debian's.
      mkdir sbin; mount --bind /usr/sbin sbin; mount -t tmpfs apart /usr/sbin; ln -s "$T"/sbin/* /usr/sbin; rm -f /usr/sbin/mount.sharefs /usr/sbin/mount.fuse.sharefs
      "$root/mount-scripts/install" --from "$programs" 2>/dev/null
      mkdir -p /srv/clips /var/lib/samba/private /run/samba /run/sshd; chmod 1777 /srv/clips; smbd -D
      follow "A NAS with Samba" 1
      groupadd clips; useradd -m -d "$T/guest" -G clips guest; printf 'secret\\nsecret\\n' | smbpasswd -s -a guest >/dev/null
      client() { smbclient -U guest%secret //127.0.0.1/clips -c "$1"; }
      await client ls; client "put $clip one.mp4"; client 'cd .thumbs; get one.mp4.png got.png'; cmp got.png /srv/clips/.thumbs/one.mp4.png
      block SFTP 1; cat block.1 >>/etc/ssh/sshd_config; ssh-keygen -q -N '' -t ed25519 -f key
      install -d -o guest -m 700 "$T/guest/.ssh"; install -o guest -m 600 key.pub "$T/guest/.ssh/authorized_keys"; /usr/sbin/sshd -E "$T/sshd.log"
      sftp() { command sftp -q -b - -i key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null guest@127.0.0.1; }
      printf 'put %s /clips/two.mp4\\nget /clips/.thumbs/two.mp4.png two.png\\n' "$clip" | sftp >/dev/null; cmp two.png /srv/clips/.thumbs/two.mp4.png
      echo 'ls /etc' | refuses sftp 2>/dev/null
      serve dav WebDAV 1; at=http://127.0.0.1:8080; await curl -sf $at/
      curl -sf -T "$clip" $at/three.mp4; curl -sf -o three.png $at/.thumbs/three.mp4.png; cmp three.png /srv/clips/.thumbs/three.mp4.png
      kill -- -"$(tail -n 1 servers)"; await sharefs umount /srv/clips
      follow "When the system or you log in" 2; grep -q ' /srv/clips fuse.sharefs ' /proc/mounts; [ -e /srv/clips/.thumbs/three.mp4.png ]
      """)
  }
}
