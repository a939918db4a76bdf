#!/bin/sh
# Writes to standard output the root of a file system with this host's Debian packages, Node and npm: a stand-in for the
# official image of Node where no registry of images can be reached. Its arguments: the folder of Node and of npm.
set -eu
node=$1
npm=$2
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/usr/bin" "$root/usr/sbin" "$root/usr/lib" "$root/usr/lib64" "$root/usr/local/bin" "$root/usr/local/lib/node_modules"
for name in bin sbin lib lib64; do ln -s "usr/$name" "$root/$name"; done
mkdir -p "$root/dev" "$root/proc" "$root/sys" "$root/run" "$root/tmp" "$root/root" "$root/etc"
chmod 1777 "$root/tmp"
packages=$(dpkg-query -W -f '${Package} ${Priority}\n' | awk '$2 == "required" { print $1 }')
dpkg-query -L $packages ca-certificates openssl 2>/dev/null | grep -v -E '^/usr/share/(doc|man|locale|info)/|^diverted' | sort -u |
  while read -r path; do [ -d "$path" ] && [ ! -L "$path" ] || echo "$path"; done |
  tar -cf - --no-recursion --ignore-failed-read -T - 2>/dev/null | tar -xf - -C "$root" --keep-directory-symlink
cp -r /etc/ssl "$root/etc/"
cp /etc/passwd /etc/group /etc/nsswitch.conf /etc/ld.so.conf "$root/etc/" 2>/dev/null || true
cp -r /etc/alternatives /etc/ld.so.conf.d "$root/etc/" 2>/dev/null || true
cp "$node/node" "$root/usr/local/bin/node"
ln -sf dash "$root/usr/bin/sh"
# The libraries of all these programs, under the names by which they are loaded.
find "$root/usr/bin" "$root/usr/sbin" "$root/usr/local/bin" -type f -exec ldd {} + 2>/dev/null |
  awk '/=> \// { print $3 } /^\t\/.*ld-/ { print $1 }' | sort -u | xargs tar -chf - 2>/dev/null |
  tar -xf - -C "$root" --keep-directory-symlink
cp -r "$npm" "$root/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
chroot "$root" /sbin/ldconfig
tar -cf - -C "$root" .
