"""Profiles a run: samples of `perf record`, summed by function and by layer (folder of src/).

The release build has no debugging information, and several files have a static function of a name such as `step`. The
layer of an address is therefore that of the nearest symbol before it whose name is in only one layer, because the
linker places the code file by file. Inlined code counts for the function that contains it.
"""
import bisect
import collections
import pathlib
import re
import subprocess

SAMPLES_PER_SECOND = 4000
OTHERS = (("[kernel", "operating system"), ("libc.", "C library"), ("libm.", "C library"),
          ("ld-linux", "C library"))  # start of a file's name, name of its time
OBJECT_LAYER = re.compile(r"src[_/]([a-z]+)[_/].*\.o:$")  # in a member's name in the archive
# A line of `perf report -v`: share, file, address, symbol
LINE = re.compile(r"^\s*([\d.]+)%\s+(\S+)\s+0x([0-9a-f]+)\s+\S+ \[.\] (\S+)", re.M)


def output_of(*words):
    return subprocess.run([str(word) for word in words], text=True, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def plain_name(symbol):
    """The name in the source: the compiler and the linker mark their variants after a dot."""
    return symbol.split(".")[0]


def layers_of_names(build):
    """name of a function -> the layers with a function of this name"""
    names = collections.defaultdict(set)
    layer = None
    for line in output_of("nm", build / "libtyto_core.a").splitlines():
        if line.endswith(":"):
            layer = OBJECT_LAYER.search(line).group(1)
        elif re.search(r" [tT] ", line):
            names[plain_name(line.split()[-1])].add(layer)
    return names


class Layers:
    """The layer of every address of the library."""

    def __init__(self, build):
        names = layers_of_names(build)
        self.starts, self.layers = [], []
        layer = "other"
        for line in output_of("nm", "-n", build / "libtyto.so").splitlines():
            symbol = re.match(r"([0-9a-f]+) [tT] (\S+)", line)
            if not symbol:
                continue
            candidates = names.get(plain_name(symbol.group(2)), ())
            if len(candidates) == 1:
                (layer,) = candidates
            self.starts.append(int(symbol.group(1), 16))
            self.layers.append(layer)

    def of(self, address):
        return self.layers[max(0, bisect.bisect_right(self.starts, address) - 1)]


def profile(build, words, folder):
    """Profiles `tyto WORDS`. Returns shares of the time in percent by layer and by function, largest first."""
    data = pathlib.Path(folder) / "perf.data"
    output_of("perf", "record", "-o", data, "-F", SAMPLES_PER_SECOND, "--", build / "tyto", *words)
    layers = Layers(build)
    by_layer, by_function = collections.Counter(), collections.Counter()
    report = output_of("perf", "report", "-i", data, "-v", "--stdio", "--no-children", "--sort", "dso,sym")
    for share, path, address, symbol in LINE.findall(report):
        file = pathlib.Path(path).name
        if file.startswith("libtyto"):
            layer = layers.of(int(address, 16))
            by_function[f"{layer}/ {plain_name(symbol)}"] += float(share)
        else:
            layer = next((name for start, name in OTHERS if file.startswith(start)), "host program")
        by_layer[layer] += float(share)
    return {kind: {name: round(share, 1) for name, share in shares}
            for kind, shares in (("layers", by_layer.most_common()),
                                 ("functions", by_function.most_common(16)))}
