extension Verb {
  /// Paragraphs for help, each line as it shall stand.
  var details: String {
    switch self {
    case .mount:
      """
      With one folder, the share is mounted in place: DIR (made when missing) is covered by the share, and shows its own
      files and `.thumbs`. With two, SOURCE is shown at MOUNTPOINT, an empty folder. The command returns when the mount
      answers. A mount left dead by a daemon that was killed is cleaned up first.
      """
    case .umount:
      """
      Returns when the daemon has ended. Pictures not yet made are made after the next mount; it says how many. When files
      are in use, it says by whom. A dead mount is cleaned up.
      """
    case .status:
      """
      Without MOUNTPOINT, all shares of yours (root: everybody's). Any path inside a share serves as MOUNTPOINT.
      """
    case .list:
      """
      PATH is a share or anything in it, mounted or not; the current folder without PATH. Columns: path, type, size,
      duration, dimensions, verdict. What a file is, its content says, not its name.
      """
    case .info:
      """
      A file by its path, in a share mounted or not, by its asset id in the share of the current folder, or by the URL
      that `import` and `info` tell: sharefs://SHARE/asset/NUMBER?ext=MOV.
      """
    case .watch:
      """
      One line for each event, until it is ended. Events are numbered and kept (the last 100000, for 30 days): after a
      restart of the daemon, or with --since, none is missed and none comes twice. A reader that falls behind is told.

      With --exec, CMD is run once for each content that is whole, by `ready` or `unsupported` (whole, no medium); its
      failures are told. What follows --exec is CMD and its words; MOUNT stands before --exec or at the end. A CMD with
      spaces and without further words is a line for the shell.
      """
    case .thumbnail:
      """
      IN is a path or a file: URL, in a share or not; OUT becomes a PNG. As an entry of the desktop's thumbnailers:
      Exec=sharefs thumbnail --size %s %u %o. A file of which there is no picture ends with 3, and OUT is not written.
      """
    case .rescan:
      """
      For what was changed behind the share's back. Returns when all that was found is in the catalog; pictures may still
      be in the making.
      """
    case .check:
      """
      One line for each finding: missing (catalogued, not there), uncatalogued (there, not catalogued), changed (other
      than catalogued), lost or orphan thumbnail, damaged catalog. With --repair, what is found is put right: a share
      that is not mounted is catalogued by this command itself.
      """
    case .types:
      """
      Columns: kind, uniform type identifier, MIME type, extensions. TYPE is a kind (video, image, audio, document), an
      identifier, with all that conform to it (public.movie, public.data), a MIME type, a pattern (video/*,
      org.openxmlformats.*) or an extension (*.mov).
      """
    case .import:
      """
      Each FILE is looked at, copied aside, made durable and renamed into place; a name that is taken gets a number. Of a
      file that is refused nothing stays. One line for each: its URL, a tab, its path. The share may be mounted or not. The
      exit code is that of the first file that was refused.
      """
    case .bookmark:
      """
      create prints a token for a document or folder; only its hash is kept. resolve prints where that is now, after renames,
      rewrites and remounts, and a fresh token when it moved or was replaced. list tells your bookmarks, without tokens.

      start opens an access and prints its name and a path below .scoped in the mount; through it the document, or the
      folder, can be reached and nothing else. stop, or the end of --for, ends it: new opens fail, open files go on.
      """
    case .cat:
      """
      Waits while somebody writes the document, then delivers it. When it was changed meanwhile it ends with 6: what was
      delivered is of no one version.
      """
    case .wait:
      """
      PATH need not exist yet. It is followed when it is renamed. Whole is what is `ready`, or `unsupported`: whole, and
      no medium. In a share that is not mounted, the catalog tells at once. Several paths: the exit code is that of the
      first that is not whole.
      """
    }
  }
}
