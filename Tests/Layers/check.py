#!/usr/bin/env python3
"""Holds the C code against the list of layers: every include, and every symbol that one object takes from another.

  Tests/Layers/check.py [--objects FOLDER]    FOLDER: the objects of `make extension`, build/objects unless named
  Tests/Layers/check.py --self-test           plants an upward include and an upward call, which must be found

A file may include headers, and an object use symbols, of its own layer and of the layers that Tests/Layers/layers.txt names for it.
Files of one folder may call each other in a circle only where a header of the folder says so: a line of its comment begins with
"Circle:" and names the files, and behind it stands why, in parentheses.
Exits with 1 and names the files of each violation.
"""
import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

PUBLIC = 'public'  # the public header belongs to the interface, and everybody may read it

# The table of SQLite's functions, which whoever links the C code provides, and what the interposer defines in front of the C library's.
OTHERS = {'sqlite3_api', 'dlsym'}


class Layer:
    def __init__(self, name, folder, allowed):
        self.name, self.folder, self.allowed = name, folder, allowed


def read_layers(path):
    layers = []
    for number, line in enumerate(open(path), 1):
        line = line.split('#')[0].strip()
        if not line:
            continue
        head, _, allowed = line.partition(':')
        name, folder = head.split()
        unknown = set(allowed.split()) - {layer.name for layer in layers}
        if unknown:
            sys.exit('%s:%d: %s stands below %s, or nowhere' % (path, number, name, ', '.join(sorted(unknown))))
        layers.append(Layer(name, folder, set(allowed.split())))
    return layers


def layer_of(layers, path):
    """The layer with the longest folder that holds the path."""
    found = [layer for layer in layers if path.startswith(layer.folder + '/')]
    return max(found, key=lambda layer: len(layer.folder)) if found else None


def may_use(layer, other):
    return other is None or other is layer or other.name == PUBLIC or other.name in layer.allowed


def files_of(root, layers, endings):
    for folder in sorted({layer.folder for layer in layers}):
        for base, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(base, name), root)
                if name.endswith(endings) and layer_of(layers, path).folder == folder:
                    yield path


def check_includes(root, layers):
    headers = collections.defaultdict(list)
    for path in files_of(root, layers, ('.h', '.def')):
        headers[os.path.basename(path)].append(path)
    for path in files_of(root, layers, ('.c', '.h')):
        layer = layer_of(layers, path)
        for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', open(os.path.join(root, path)).read(), re.M):
            beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
            fits = [h for h in headers[os.path.basename(name)] if h in (beside, name) or h.endswith('/' + name)]
            if not fits:
                yield '%s includes "%s", which is nowhere in the layers' % (path, name)
                continue
            header = beside if beside in fits else fits[0]
            other = layer_of(layers, header)
            if not may_use(layer, other):
                yield '%s (%s) includes %s (%s)' % (path, layer.name, header, other.name)


def read_symbols(root, layers, objects):
    """Which object defines each symbol, and which it needs: by the path of its source."""
    defines, needs = {}, collections.defaultdict(set)
    for path in files_of(root, layers, '.c'):
        compiled = os.path.join(objects, path[:-2] + '.o')
        if not os.path.isdir(os.path.join(objects, layer_of(layers, path).folder)):
            continue  # built elsewhere: an engine as a shared library, the engine tests. Its includes are checked.
        if not os.path.exists(compiled):
            sys.exit('layers: %s is missing: make extension' % compiled)
        for line in subprocess.run(['nm', compiled], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines():
            *_, kind, symbol = line.split()
            if kind == 'U':
                needs[path].add(symbol)
            elif kind in 'TDBRC' and symbol not in OTHERS:
                defines[symbol] = path
    return defines, needs


def check_calls(layers, defines, needs):
    for path in sorted(needs):
        layer = layer_of(layers, path)
        for symbol in sorted(needs[path]):
            other = layer_of(layers, defines.get(symbol, ''))
            if not may_use(layer, other):
                yield '%s (%s) uses %s of %s (%s)' % (path, layer.name, symbol, defines[symbol], other.name)


def cycles(edges):
    """The strongly connected components of more than one node (Tarjan 1972)."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        on_stack.add(node)
        for other in edges[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in on_stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            component = []
            while True:
                component.append(stack.pop())
                on_stack.discard(component[-1])
                if component[-1] == node:
                    break
            if len(component) > 1:
                found.append(sorted(component))

    sys.setrecursionlimit(10000)
    for node in list(edges):
        if node not in index:
            visit(node)
    return found


def calls_within(layers, defines, needs):
    edges = collections.defaultdict(set)
    for path in needs:
        for symbol in needs[path]:
            other = defines.get(symbol)
            if other and other != path and layer_of(layers, other) is layer_of(layers, path):
                edges[path].add(other)
                edges[other] |= set()
    return edges


def named_circles(root, layers):
    """The circles that the headers of each layer name: sets of file names."""
    named = collections.defaultdict(list)
    for path in files_of(root, layers, '.h'):
        text = open(os.path.join(root, path)).read()
        for circle in re.findall(r'^\*\* Circle: (.*?)\(', text, re.M | re.S):
            named[layer_of(layers, path).name].append((path, set(re.findall(r'\w+\.c', circle))))
    return named


def check_circles(root, layers, defines, needs):
    named = named_circles(root, layers)
    for component in cycles(calls_within(layers, defines, needs)):
        layer, files = layer_of(layers, component[0]).name, set(map(os.path.basename, component))
        if not any(files <= circle for _, circle in named[layer]):
            yield '%s: files call each other in a circle that no header of the folder names: %s' % (layer, ' '.join(sorted(files)))
    for layer in layers:
        there = {os.path.basename(path) for path in files_of(root, layers, '.c') if layer_of(layers, path) is layer}
        for path, circle in named[layer.name]:
            for gone in sorted(circle - there):
                yield '%s names %s in a circle, which is not in the folder' % (path, gone)


def check(root, list_path, objects, quiet=False):
    layers = read_layers(list_path)
    wrong = list(check_includes(root, layers))
    defines, needs = read_symbols(root, layers, objects)
    wrong += check_calls(layers, defines, needs)
    wrong += check_circles(root, layers, defines, needs)
    if not quiet:
        for line in wrong:
            print('layers: ' + line)
        print('layers: %d layers, %d files, %d violations' % (
            len(layers), len(list(files_of(root, layers, ('.c', '.h')))), len(wrong)))
    return wrong


def self_test():
    """Two layers in a folder of their own: sound, then with an upward include, then with an upward call."""
    folder = tempfile.mkdtemp()
    try:
        def write(path, text):
            os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
            with open(os.path.join(folder, path), 'w') as file:
                file.write(text)

        def violations():
            sources = [name[:-2] for name in ('low/low.c', 'low/other.c', 'high/high.c') if os.path.exists(os.path.join(folder, name))]
            for name in sources:
                os.makedirs(os.path.join(folder, 'objects', os.path.dirname(name)), exist_ok=True)
                subprocess.run(['cc', '-I' + folder, '-c', os.path.join(folder, name + '.c'), '-o',
                                os.path.join(folder, 'objects', name + '.o')], check=True)
            return check(folder, os.path.join(folder, 'layers.txt'), os.path.join(folder, 'objects'), quiet=True)

        write('layers.txt', 'low low :\nhigh high : low\n')
        write('low/low.h', 'int low(void);\n')
        write('high/high.h', 'int high(void);\n')
        write('high/high.c', '#include "high/high.h"\n#include "low/low.h"\nint high(void) { return low(); }\n')
        write('low/low.c', '#include "low/low.h"\nint low(void) { return 1; }\n')
        sound = violations()
        write('low/low.c', '#include "low/low.h"\n#include "high/high.h"\nint low(void) { return 1; }\n')
        include = violations()
        write('low/low.c', '#include "low/low.h"\nint high(void);\nint low(void) { return high(); }\n')
        call = violations()
        write('low/low.c', '#include "low/low.h"\nint other(void);\nint low(void) { return other(); }\n')
        write('low/other.c', '#include "low/low.h"\nint other(void);\nint other(void) { return low(); }\n')
        circle = violations()
        write('low/low.h', '/*\n** Circle: low.c other.c\n**   (each needs the other).\n*/\nint low(void);\n')
        named = violations()
    finally:
        shutil.rmtree(folder)
    wanted = [[], ['low/low.c (low) includes high/high.h (high)'], ['low/low.c (low) uses high of high/high.c (high)'],
              ['low: files call each other in a circle that no header of the folder names: low.c other.c'], []]
    found = [sound, include, call, circle, named]
    if found != wanted:
        sys.exit('layers: the check itself is wrong: %r' % found)
    print('layers: the check finds a planted include, a planted call and a planted circle')


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument('--objects', default='build/objects')
    arguments.add_argument('--self-test', action='store_true')
    given = arguments.parse_args()
    if given.self_test:
        return self_test()
    here = os.path.dirname(os.path.abspath(__file__))
    root = os.path.normpath(os.path.join(here, '..', '..'))
    sys.exit(1 if check(root, os.path.join(here, 'layers.txt'), os.path.join(root, given.objects)) else 0)


if __name__ == '__main__':
    main()
