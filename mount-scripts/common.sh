# What the scripts share: the Debian packages, and how to get them. Sourced by bash, not run.
# shellcheck shell=bash

# To mount, and to build.
# shellcheck disable=SC2034
packages=(
  fuse3 libfuse3-dev libavformat-dev libavcodec-dev libswscale-dev libavutil-dev libpng-dev libsqlite3-dev pkg-config
)

# What the tests use as real programs besides.
# shellcheck disable=SC2034
test_packages=(
  ffmpeg rsync attr acl git sqlite3 libglib2.0-bin inotify-tools python3 strace util-linux iproute2 procps file bubblewrap
  chromium samba samba-vfs-modules smbclient openssh-server openssh-client rclone curl restic borgbackup
  man-db systemd dpkg-dev binutils zsh fish xvfb thunar tumbler nautilus dbus
)

swift_least=6.2

say() { printf '%s\n' "$*" >&2; }

# fail MESSAGE [HINT]
fail() {
  say "${0##*/}: $1"
  [ $# -lt 2 ] || say "  $2"
  exit 1
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    fail "This must be done as root: $*" "There is no sudo; run it as root, then start ${0##*/} again."
  fi
}

is_installed() { [ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null)" = 'ii ' ]; }

# install_missing PACKAGE...
install_missing() {
  local missing=() package
  for package in "$@"; do is_installed "$package" || missing+=("$package"); done
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null || fail "These packages are missing: ${missing[*]}" \
    "They have Debian's names; install them with this system's own package tool."
  say "Installing ${missing[*]}"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" >&2 ||
    { as_root apt-get update -q >&2 &&
      as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" >&2; } ||
    fail "The packages could not be installed: ${missing[*]}" "See what apt says above."
}

# A container's /dev/fuse is often root's alone; udev gives it 666 on a system that has it.
open_fuse() {
  [ -e /dev/fuse ] || return 0
  [ -r /dev/fuse ] && [ -w /dev/fuse ] && [ "$(stat -c %a /dev/fuse)" = 666 ] && return 0
  [ "$(id -u)" = 0 ] && chmod 666 /dev/fuse
  return 0
}

require_swift() {
  command -v swift >/dev/null || fail "The Swift toolchain is missing: there is no \`swift\` in PATH." \
    "Install Swift $swift_least or later from swift.org (Linux, Debian 12), then start ${0##*/} again."
  local words found
  words=$(swift --version 2>&1) || fail "The Swift toolchain cannot be run: ${words##*$'\n'}" \
    "It needs the packages that swift.org lists for Debian 12; install them, then start ${0##*/} again."
  found=$(sed -n 's/.*Swift version \([0-9][0-9.]*\).*/\1/p' <<<"$words" | head -n 1)
  [ -n "$found" ] || fail "\`swift --version\` does not tell a version." "Is the toolchain in PATH whole?"
  [ "$(printf '%s\n%s\n' "$swift_least" "$found" | sort -V | head -n 1)" = "$swift_least" ] ||
    fail "Swift $found is too old: sharefs needs $swift_least or later." "Install a newer one from swift.org."
}

# build_release ROOT: builds what is not built, in its final form, and prints the folder of the programs.
build_release() {
  local build=(swift build --package-path "$1" -c release --static-swift-stdlib)
  say "Building (the first time takes some minutes)"
  "${build[@]}" >&2
  "${build[@]}" --show-bin-path
}
