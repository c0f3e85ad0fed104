#!/usr/bin/env python3
"""test_careless.py TYTO CARELESS: each mistake that careless.c makes with device memory is found, with the function that
made it, and nothing else is reported."""
import json, os, subprocess, sys, tempfile, unittest

TYTO, CARELESS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])


def run(*words, options=()):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.json")
        done = subprocess.run([TYTO, "run", "--functional", "--quiet", "--json", path, *options, CARELESS, *words],
                              capture_output=True, text=True, timeout=60)
        with open(path) as file:
            return done, json.load(file)["errors"]


class Careless(unittest.TestCase):
    def test_every_mistake_is_found_with_the_function_that_made_it(self):
        names = subprocess.run([CARELESS], capture_output=True, text=True, check=True).stdout.split()
        self.assertGreaterEqual(sum(name.startswith("leak") for name in names), 15)
        for name in names:
            with self.subTest(name):
                done, errors = run(name, options=["--check", "init,leak"])
                if name == "right":
                    self.assertEqual((done.returncode, done.stderr, errors), (0, "", []))
                    continue
                if "in this address space is not supported" in done.stderr:
                    self.skipTest("managed memory needs addresses that a sanitizer takes")
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertEqual([error["check"] for error in errors], [name.split("_")[0]], done.stderr)
                self.assertIn(f"host: {name}+0x", errors[0]["message"])
                self.assertIn(errors[0]["message"], done.stderr)

    def test_the_same_place_is_told_once_and_counted(self):
        done, errors = run("leak_in_loop", options=["--check", "leak"])
        self.assertEqual([error["count"] for error in errors], [2])
        self.assertIn("tyto: 2 errors at 1 place: leak 1", done.stderr)

    def test_nothing_is_looked_for_without_being_asked_for(self):
        for name in ("leak_one", "init_to_host", "init_unused"):
            done, errors = run(name)
            self.assertEqual((done.returncode, done.stderr, errors), (0, "", []))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
