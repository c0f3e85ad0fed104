#!/usr/bin/env python3
"""The timeline in Perfetto's format. A reader with its own knowledge of the wire format and the field numbers reads it
back, and the test compares it with the same run's JSON timeline and counters.

usage: test_timeline.py TYTO
"""
import collections
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

TYTO = pathlib.Path(sys.argv[1]).resolve()
PLAIN = {key: value for key, value in os.environ.items() if not key.startswith("TYTO_")}
INTERVAL = 100


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """The fields of a message, in order: (number, value). A value is a number, a double or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = struct.unpack("<d", data[at : at + 8])[0], at + 8
        elif wire == 2:
            length, at = varint(data, at)
            value, at = data[at : at + length], at + length
            assert len(value) == length, "a field ends past its message"
        else:
            raise AssertionError(f"wire type {wire}")
        yield number, value


def one(data):
    """A message in which each field occurs at most once."""
    read = list(fields(data))
    assert len(read) == len(dict(read)), read
    return dict(read)


class Trace:
    """Tracks by identity, slices (begin, end, name, line) and counter values by track."""

    def __init__(self, data):
        self.tracks, self.names, self.origin = {}, {}, {}
        self.slices, self.values = collections.defaultdict(list), collections.defaultdict(list)
        is_open, annotations, is_first = {}, {}, True
        for number, packet in fields(data):
            assert number == 1
            packet = one(packet)
            assert packet.pop(10) == 1  # the sequence
            assert packet.pop(13) == (1 if is_first else 2), "only the first packet clears the state"
            is_first = False
            if 12 in packet:
                for kind, entry in fields(packet.pop(12)):
                    entry = one(entry)
                    to = {2: self.names, 3: annotations}[kind]
                    assert entry[1] not in to
                    to[entry[1]] = entry[2].decode()
            elif 60 in packet:
                track = one(packet.pop(60))
                assert track[1] not in self.tracks and (5 not in track or track[5] in self.tracks or track[5] == 1 << 12)
                self.tracks[track[1]] = (track.get(5), track[2].decode(), 8 in track)
            else:
                time, read = packet.pop(8), list(fields(packet.pop(11)))
                event, annotated = dict(read), [one(value) for number, value in read if number == 4]
                assert len(read) == len(event) + max(0, len(annotated) - 1)  # no other annotation occurs twice
                assert time % 1000 == 0
                cycle, kind, track = time // 1000, event[9], event[11]
                assert self.tracks[track][2] == (kind == 4)
                if kind == 3:
                    assert not self.origin and self.path(track) == ("GPU", "where this comes from")
                    self.origin = {entry[10].decode(): entry[6].decode() for entry in annotated}
                elif kind == 4:
                    self.values[track].append((cycle, event[44]))
                elif kind == 1:
                    assert track not in is_open
                    line = None
                    if annotated:
                        annotation, = annotated
                        assert annotations[annotation[1]] == "line of the PTX"
                        line = annotation[3]
                    is_open[track] = (cycle, self.names[event[10]] if 10 in event else event[23].decode(), line)
                else:
                    begin, name, line = is_open.pop(track)
                    assert kind == 2 and begin <= cycle
                    self.slices[track].append((begin, cycle, name, line))
            assert not packet, packet
        assert not is_open, "every slice ends"

    def path(self, track):
        parent, name, _ = self.tracks[track]
        return (self.tracks[parent][1], name) if parent else (name,)


class Timeline(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)

        def run(*words):
            subprocess.run([TYTO, "run", "--quiet", "--machine", "ccws", "--sample", str(INTERVAL), *words, "spmv", "--size", "1024"], check=True, cwd=cls.path,
                           env=PLAIN, capture_output=True, timeout=120)

        run("--timeline", "t.pftrace", "--ctas", "ctas.csv", "--json", "run.json", "--profile")
        run("--timeline", "same.perfetto-trace", "--profile")
        run("--timeline", "t.json")
        cls.data = (cls.path / "t.pftrace").read_bytes()
        cls.trace = Trace(cls.data)
        cls.paths = {cls.trace.path(track): track for track in cls.trace.tracks}
        cls.json = json.loads((cls.path / "t.json").read_text())
        cls.held = json.loads((cls.path / "run.json").read_text())

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_both_endings_give_the_same_bytes(self):
        self.assertEqual(self.data, (self.path / "same.perfetto-trace").read_bytes())

    def test_an_ending_of_no_form_is_refused(self):
        for name in ("t.foo", "json.d/t.pftrac", "t.json.gz"):
            done = subprocess.run([TYTO, "run", "--timeline", name, "vecadd", "--size", "100"], cwd=self.path, env=PLAIN, capture_output=True, text=True,
                                  timeout=120, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"--timeline {name}: must end in .json, .pftrace or .perfetto-trace", done.stderr)
        subprocess.run([TYTO, "run", "--quiet", "--timeline", "./plain", "vecadd", "--size", "100"], cwd=self.path, env=PLAIN, check=True,
                       stdout=subprocess.DEVNULL, timeout=120)
        self.assertTrue((self.path / "plain").read_text().startswith("["))

    def test_both_forms_say_where_they_come_from(self):
        said = {event["name"]: event["args"] for event in self.json if event["ph"] == "M"}["origin"]
        self.assertEqual(set(self.trace.origin), set(said))
        self.assertEqual(self.trace.origin, {key: self.held[key] for key in self.trace.origin})
        self.assertEqual([key for key in self.held if key not in self.trace.origin][0], "overrides")  # there are no overrides

    def test_every_sm_slot_and_channel_has_its_track(self):
        self.assertEqual(len(self.paths), len(self.trace.tracks))
        for sm in range(30):
            for kind, count in (("CTA", 8), ("warp", 32)):
                self.assertEqual(sum(path[0] == f"SM {sm}" and path[-1].startswith(f"{kind} slot ") for path in self.paths), count)
            self.assertIn((f"SM {sm}", "issued, % of scheduler cycles"), self.paths)
        for channel in range(8):
            self.assertIn((f"DRAM channel {channel}", "row hits, %"), self.paths)
        self.assertNotIn(("DRAM channel 8",), self.paths)
        self.assertIn(("GPU", "scheduler cycles, %: issued"), self.paths)

    def test_slices_and_counters_are_those_of_the_json_form(self):
        slices = sorted((event["pid"], event["tid"], event["ts"], event["ts"] + event["dur"], event["name"]) for event in self.json if event["ph"] == "X")
        groups = {"GPU": 0} | {f"SM {sm}": sm + 1 for sm in range(30)}
        ours = sorted((groups[path[0]], 0 if path[1] == "kernels" else int(path[1].split()[-1]), begin, end, name)
                      for path, track in self.paths.items() if len(path) == 2 and not path[1].startswith("warp") for begin, end, name, _ in self.trace.slices[track])
        self.assertEqual(ours, slices)
        self.assertEqual(sum(" CTA " in each[-1] for each in ours), self.held["kernels"][0]["grid"][0])
        for event in self.json:
            for series, value in event["args"].items() if event["ph"] == "C" else ():
                name = event["name"] + (f": {series}" if len(event["args"]) > 1 else "")
                self.assertIn((event["ts"], value), self.trace.values[self.paths["GPU", name]])

    def test_warps_stand_in_one_place_and_do_what_the_profile_knows(self):
        known = {line["line"] for kernel in self.held["profile"] for line in kernel["instructions"]}
        seen, cycles = collections.Counter(), 0
        for path, track in self.paths.items():
            if not path[-1].startswith("warp slot"):
                continue
            at = 0
            for begin, end, name, line in sorted(self.trace.slices[track]):
                self.assertGreaterEqual(begin, at)
                self.assertLess(begin, end)
                self.assertIn(line, known)
                at, cycles = end, cycles + end - begin
                seen[name] += end - begin
        self.assertAlmostEqual(cycles / self.held["total"]["warp_cycles"], 1, delta=0.05)
        memory = sum(line.get("cycles_memory", 0) for kernel in self.held["profile"] for line in kernel["instructions"])
        self.assertAlmostEqual(seen["waiting for data from memory"] / memory, 1, delta=0.2)
        self.assertEqual(set(self.trace.names.values()), set(seen))

    def test_units_add_up_to_the_gpu(self):
        total = self.held["total"]
        starts = [start for start, _ in self.trace.values[self.paths["SM 0", "resident warps"]]]
        lengths = [after - before for before, after in zip(starts, starts[1:] + [starts[0] + total["cycles"]])]
        for units, name, expected in (("SM", "issued, % of scheduler cycles", total["issued_share"]), ("DRAM channel", "data bus, %", total["dram_bandwidth_use"])):
            tracks = [self.trace.values[track] for path, track in self.paths.items() if path[-1] == name and path[0].startswith(units + " ")]
            self.assertTrue(all([start for start, _ in values] == starts for values in tracks))
            mean = sum(value * length for values in tracks for (_, value), length in zip(values, lengths)) / len(tracks) / sum(lengths)
            self.assertAlmostEqual(mean / (100 * expected), 1, delta=0.02)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0)
