"""Debian's source packages, for the tests that build what others wrote."""
import glob
import os
import subprocess


def fetch(folder, *packages):
    """Fetches Debian's source packages, with a list of sources of its own: most machines' lists name no sources."""
    folder = os.path.abspath(folder)  # apt runs in it
    release = subprocess.run(['sh', '-c', '. /etc/os-release; echo $VERSION_CODENAME'], check=True, text=True, stdout=subprocess.PIPE).stdout.strip()
    for inner in ('lists/partial', 'cache/archives/partial'):
        os.makedirs(os.path.join(folder, 'apt', inner), exist_ok=True)
    with open(folder + '/apt/sources.list', 'w') as sources:
        sources.write('deb-src http://deb.debian.org/debian %s main\n' % release)
    apt = ['apt-get', '-qq', '-o', 'APT::Sandbox::User=root', '-o', 'Dir::Etc::sourceparts=/dev/null']
    apt += ['-o', 'Dir::Etc::sourcelist=%s/apt/sources.list' % folder, '-o', 'Dir::State::lists=%s/apt/lists' % folder]
    apt += ['-o', 'Dir::Cache=%s/apt/cache' % folder]
    subprocess.run(apt + ['update'], check=True)
    subprocess.run(apt + ['source', '--download-only', *packages], cwd=folder, check=True)
    for archive in glob.glob(folder + '/*.orig.tar.?z') + glob.glob(folder + '/*.orig.tar.bz2'):
        subprocess.run(['tar', 'xf', archive], cwd=folder, check=True)
