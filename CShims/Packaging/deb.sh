#!/bin/sh
# A Debian package of what `make install` installs, in build/. Its dependencies are those of the libraries that the files link.
# Usage: deb.sh COMMAND
set -eu
command=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
for tool in dpkg-deb dpkg-shlibdeps fakeroot; do
    command -v $tool >/dev/null || { echo "deb: no $tool: apt-get install dpkg-dev fakeroot" >&2; exit 1; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/debian/rootstock
mkdir -p "$tree/DEBIAN"
"$root/CShims/Packaging/install.sh" install "$tree" /usr "$command" >/dev/null
mkdir -p "$tree/usr/share/zsh/vendor-completions"
mv "$tree/usr/share/zsh/site-functions/_rootstock" "$tree/usr/share/zsh/vendor-completions/"
rmdir "$tree/usr/share/zsh/site-functions"
mv "$tree/usr/share/doc/rootstock/LICENSE" "$tree/usr/share/doc/rootstock/copyright"
strip --strip-unneeded "$tree"/usr/bin/rootstock "$tree"/usr/lib/*.so "$tree"/usr/lib/*.so.*.*
gzip -9n "$tree"/usr/share/man/man1/*.1

version=$("$command" --version | sed -n 's/^Rootstock //p')
architecture=$(dpkg --print-architecture)
printf 'Source: rootstock\n\nPackage: rootstock\nArchitecture: any\n' >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O --ignore-missing-info debian/rootstock/usr/bin/rootstock debian/rootstock/usr/lib/*.so \
    2>/dev/null | sed -n 's/^shlibs:Depends=//p')
cat >"$tree/DEBIAN/control" <<CONTROL
Package: rootstock
Version: $version
Architecture: $architecture
Maintainer: Rootstock <rootstock@localhost>
Depends: $depends
Suggests: sqlite3, libsqlite3-dev
Section: database
Priority: optional
Installed-Size: $(du -sk "$tree/usr" | cut -f1)
Description: SQL over a storage engine you choose
 Stock SQLite parses, plans and executes. The B-tree below is SQLite's own or a
 pluggable ordered key-value engine, LMDB first. The package has the command
 with its shell and comparison runner, a loadable extension, a library that
 runs unmodified SQLite programs on stores, and the C library.
CONTROL
printf 'activate-noawait ldconfig\n' >"$tree/DEBIAN/triggers"
package=$root/build/rootstock_${version}_$architecture.deb
fakeroot dpkg-deb --build --root-owner-group "$tree" "$package" >/dev/null
echo "deb: $package, depends on $depends"
