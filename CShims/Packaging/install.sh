#!/bin/sh
# Puts what was built where programs look for it, or takes it away again. `make install` and `make uninstall` call this.
# Usage: install.sh install|uninstall DESTDIR PREFIX COMMAND
#   DESTDIR    what stands before every path, for packages; empty otherwise
#   COMMAND    the command `rootstock`, as it was built
# Both walk one list, so what was installed is what is removed.
set -eu
action=$1 destination=$2 prefix=$3 command=$4
root=$(cd "$(dirname "$0")/../.." && pwd)
version=$("$command" --version | sed -n 's/^Rootstock //p')
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

# place MODE SOURCE TARGET: one file of the list. TARGET is below the prefix.
place() {
    if [ "$action" = install ]; then
        install -D -m "$1" "$2" "$destination$prefix/$3"
    else
        rm -f "$destination$prefix/$3"
    fi
}
link() {
    if [ "$action" = install ]; then ln -sf "$1" "$destination$prefix/$2"; else rm -f "$destination$prefix/$2"; fi
}

place 755 "$command" bin/rootstock
place 644 "$root/build/librootstock.so" "lib/librootstock.so.$version"
link "librootstock.so.$version" lib/librootstock.so.0
link librootstock.so.0 lib/librootstock.so
place 644 "$root/build/rootstock.so" lib/rootstock.so
place 644 "$root/build/librootstock_interpose.so" lib/librootstock_interpose.so
for header in RootstockTable/include/rootstock.h RootstockEngine/include/rootstock_engine.h; do
    place 644 "$root/CShims/$header" "include/rootstock/$(basename "$header")"
done
# What `rootstock engine-test` holds SQL against.
for script in "$root"/Tests/Parity/Scripts/*.sql; do place 644 "$script" "share/rootstock/parity/$(basename "$script")"; done
for file in README.md LICENSE; do place 644 "$root/$file" "share/doc/rootstock/$file"; done

# The rest is made from what the command says of itself.
if [ "$action" = install ]; then
    sed -e "s|@PREFIX@|$prefix|" -e "s|@VERSION@|$version|" "$root/CShims/Packaging/rootstock.pc.in" >"$made/rootstock.pc"
    for shell in bash zsh fish; do "$command" --generate-completion-script $shell >"$made/$shell"; done
    "$root/CShims/Packaging/manual.py" "$command" "$made/man1"
fi
place 644 "$made/rootstock.pc" lib/pkgconfig/rootstock.pc
place 644 "$made/bash" share/bash-completion/completions/rootstock
place 644 "$made/zsh" share/zsh/site-functions/_rootstock
place 644 "$made/fish" share/fish/vendor_completions.d/rootstock.fish
if [ "$action" = install ]; then
    for page in "$made"/man1/*.1; do place 644 "$page" "share/man/man1/$(basename "$page")"; done
    echo "installed rootstock $version below $destination$prefix"
else
    rm -f "$destination$prefix"/share/man/man1/rootstock.1 "$destination$prefix"/share/man/man1/rootstock-*.1
    for folder in include/rootstock share/doc/rootstock share/rootstock/parity share/rootstock; do rmdir "$destination$prefix/$folder" 2>/dev/null || true; done
    echo "removed rootstock below $destination$prefix"
fi
