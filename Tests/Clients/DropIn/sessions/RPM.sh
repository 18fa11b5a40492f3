#!/bin/bash
# RPM's database of packages.
set -u
export HOME=$PWD LC_ALL=C
database=$PWD/database
run() {
    echo "-- $*"
    "$1" --dbpath "$database" "${@:2}" 2>&1 | grep -v 'Alien\|assuming you know'
    echo "status ${PIPESTATUS[0]}"
}
for version in 1 2; do
    for name in alpha beta gamma; do
        cat >"$name.spec" <<SPEC
Name: $name
Version: $version
Release: 1
Summary: a package
License: none
BuildArch: noarch
Provides: thing-$name = $version
$([ $name = gamma ] && echo "Requires: thing-alpha")
%description
None.
%install
mkdir -p %{buildroot}/opt
echo $name >%{buildroot}/opt/$name
%files
/opt/$name
SPEC
        rpmbuild -bb --quiet --define "_topdir $PWD/top" "$name.spec"
    done
done
run rpm --initdb
run rpm --justdb -i top/RPMS/noarch/{alpha,beta,gamma}-1-1.noarch.rpm
run rpm -qa --qf '%{NAME} %{VERSION}\n'
run rpm -q --whatprovides thing-alpha
run rpm -q --whatrequires thing-alpha
run rpm -qf /opt/beta
run rpm --justdb -e alpha
run rpm --justdb -U top/RPMS/noarch/{alpha,beta,gamma}-2-1.noarch.rpm
run rpmdb --rebuilddb
run rpmdb --verifydb
run rpm --justdb -e gamma
run rpm -qa --qf '%{NAME} %{VERSION} %{PROVIDES}\n'
head -c 15 database/rpmdb.sqlite | grep -q 'SQLite format' || echo "$KIND"
