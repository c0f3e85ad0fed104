#!/usr/bin/env python3
"""The table "I want to add ..." of CONTRIBUTING.md lists everything there is to do. usage: test_recipes.py ROOT
[--tests FOLDER | --build FOLDER]

Without --build: the C code of a recipe compiles, every row of the table has a recipe (recipes.py) and every recipe a row,
and a recipe touches exactly the files that its row names, as many as the row says; docs/architecture.md shows the folders
of src/. With --tests: the build in FOLDER has every test that a recipe names. With --build: all recipes are followed in a
copy of the sources in FOLDER, which is built; then the tests and commands of each recipe run. Finally a policy, a machine
and a DRAM request scheduler are broken, one after the other, and the tests that walk the registry must fail."""
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from recipes import RECIPES

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
MODE, FOLDER = (sys.argv[1], pathlib.Path(sys.argv[2])) if sys.argv[1:] else ("", None)
del sys.argv[1:]
sys.path.insert(0, str(ROOT / "scripts"))
from scratch import Scratch, run  # noqa: E402 (found by the line above)

PATH = re.compile(r"`((?:src|machines|workloads|experiments|tests|docs)/[\w./*-]+)`")
SENTENCE = "A new `.c` file is also named in its folder's `meson.build`."


def rows():
    """The cells of each row of the table."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    lines = re.search(r"## I want to add \.\.\.\n\n.*\n\|[-|]+\|\n((?:\|.*\n)+)", text).group(1)
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines.splitlines()]


def table():
    """{what: the paths that its row names}"""
    return {row[0]: PATH.findall(" ".join(row)) for row in rows()}


def is_named(name, recipe, paths):
    """Whether one of the row's paths is this file or a folder that contains it."""
    patterns = [path.replace("NAME", recipe.name) for path in paths]
    return any(fnmatch.fnmatch(name, pattern) or (pattern.endswith("/") and name.startswith(pattern))
               for pattern in patterns)


def text_of(new, read):
    if isinstance(new, str):
        return new
    name, words = new
    text = read(name)
    for word, other in words.items():
        assert word in text, f"{word} is not in {name}"
        text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", other, text)
    return text


def build_of(name):
    """The meson.build that lists a file of src/."""
    is_source = name.startswith("src/") and name.endswith(".c")
    return str(pathlib.Path(name).parent / "meson.build") if is_source else None


def add_to_build(name, like, text):
    """meson.build with a new .c file listed after its example."""
    new, old = f"'{pathlib.Path(name).name}'", f"'{pathlib.Path(like).name}'"
    assert text.count(old) == 1
    return text.replace(old, f"{old}, {new}")


def follow(recipe, read, write):
    """Applies a recipe to the files that `read` and `write` access."""
    for name, new in recipe.new.items():
        write(name, text_of(new, read))
        build = build_of(name)
        if build and build not in recipe.new:  # (a new folder has its own)
            write(build, add_to_build(name, new[0], read(build)))
    for name, before, after in recipe.rows:
        text = read(name)
        assert text.count(before) == 1, f"{name} has not once: {before}"
        write(name, text.replace(before, after))


def texts_of(recipe):
    """{name: text} of all files that a recipe writes by hand."""
    files = {}
    follow(recipe, lambda name: files.get(name) or (ROOT / name).read_text(encoding="utf-8"), files.__setitem__)
    return files


def files_of(recipe):
    return sorted({*texts_of(recipe), *recipe.made})


def compile_in(folder, name):
    """Compiles a C file that a recipe has written to `folder` against the sources; returns the result and the compiler's
    messages."""
    includes = [f"-I{root / part}" for root in (folder, ROOT) for part in ("src", "include", pathlib.Path(name).parent)]
    return run([os.environ.get("CC", "cc").split()[-1], "-std=c17", "-fsyntax-only", "-D_GNU_SOURCE", "-DTYTO_OWN_CODE", "-Wall", "-Werror",
                *includes, "-x", "c", folder / name], 120)


class Table(unittest.TestCase):
    def test_every_row_has_a_recipe_and_every_recipe_a_row(self):
        self.assertEqual(sorted(table()), sorted(RECIPES))
        self.assertIn(SENTENCE, (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))

    def test_a_recipe_touches_what_its_row_names(self):
        for what, recipe in RECIPES.items():
            builds = {build_of(name) for name in recipe.new}  # the sentence below the table
            for name in files_of(recipe):
                self.assertTrue(name in builds or is_named(name, recipe, table()[what]), f"{what}: {name}")


    def test_a_row_says_how_many_files_its_recipe_touches(self):
        self.assertEqual({row[0]: row[-1] for row in rows()}, {what: str(len(files_of(recipe))) for what, recipe in RECIPES.items()})

    def test_what_a_recipe_writes_in_c_compiles(self):
        for what, recipe in RECIPES.items():
            with tempfile.TemporaryDirectory() as folder:
                texts = texts_of(recipe)
                for name, text in texts.items():
                    path = pathlib.Path(folder, name)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text, encoding="utf-8")
                for name in texts:
                    if re.match(r"(src|tests)/.*\.[ch]$", name):
                        is_good, said = compile_in(pathlib.Path(folder), name)
                        self.assertTrue(is_good, f"{what}: {said}")

    def test_a_recipe_names_tests_that_are_there(self):
        if MODE != "--tests":
            self.skipTest("no build")
        listed = subprocess.run(["meson", "introspect", "--tests", FOLDER], capture_output=True, text=True, check=True).stdout
        there = {test["name"] for test in json.loads(listed)}
        for what, recipe in RECIPES.items():
            self.assertEqual([test for test in (*recipe.tests, *recipe.walkers)
                              if test not in there and recipe.name not in test], [], what)

    def test_what_is_broken_is_in_the_new_file(self):
        for what, recipe in RECIPES.items():
            if recipe.broken:
                name, text, _ = recipe.broken
                new = text_of(recipe.new[name], lambda like: (ROOT / like).read_text(encoding="utf-8"))
                self.assertEqual(new.count(text), 1, what)


class House(unittest.TestCase):
    """docs/architecture.md shows the folders of src/ as they are."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    sources = {path.parent.relative_to(ROOT / "src").as_posix() + "/"
               for ending in ("c", "h", "c.in") for path in (ROOT / "src").rglob("*." + ending)}
    layers = [name + "/" for name in
              re.findall(r"'(\w+)'", re.search(r"\nlayers = \[(.*?)\]", (ROOT / "meson.build").read_text(encoding="utf-8"), re.S).group(1))]

    def section(self, name):
        return re.search(rf"\n## {name}\n(.*?)(?=\n## )", self.page, re.S).group(1)

    def test_the_drawing_has_every_folder(self):
        drawing = re.search(r"```\n(.*?)```", self.section("The parts"), re.S).group(1)
        self.assertEqual(set(re.findall(r"\b\w+/", drawing)), {folder for folder in self.sources if folder.count("/") == 1})

    def test_the_table_has_every_layer_in_order(self):
        self.assertEqual(re.findall(r"(?m)^\| `(\w+/)` \|", self.section("Layers")), [*self.layers, "cli/"])

    def test_the_table_has_every_folder_of_a_layer(self):
        table = "".join(re.findall(r"(?m)^\| `\w+/` \|.*", self.section("Layers")))
        self.assertEqual(set(re.findall(r"`(\w+/\w+/)`", table)), {folder for folder in self.sources if folder.count("/") == 2})


class Copy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = scratch = Scratch(FOLDER)
        scratch.copy()
        for recipe in RECIPES.values():
            follow(recipe, scratch.read, scratch.write)
        scratch.set_up()
        names = {name for recipe in RECIPES.values() for name in (*recipe.tests, *recipe.walkers)}
        targets = {target["id"]: target["filename"] for target in scratch.introspect("targets")}
        depends = {identity for test in scratch.introspect("tests") if test["name"] in names
                   for identity in test["depends"] if identity in targets}
        cls.files = files = [str(pathlib.Path(file).relative_to(scratch.build)) for identity in depends for file in targets[identity]]
        is_built, said = scratch.ninja("running", *sorted(files))
        if not is_built:
            raise AssertionError(said[-4000:])


    def build(self):
        is_built, said = self.scratch.ninja("running", *sorted(self.files))
        self.assertTrue(is_built, said[-4000:])

    def break_it(self, recipe):
        """Breaks what a recipe adds; returns the tests that still pass."""
        name, text, broken = recipe.broken
        whole = self.scratch.read(name)
        self.scratch.write(name, whole.replace(text, broken))
        try:
            self.build()
            return [test for test in recipe.walkers
                    if run(["meson", "test", "-C", self.scratch.build, "--no-rebuild", "-t", "10", test], 1200)[0]]
        finally:
            self.scratch.write(name, whole)
            self.build()


def add_walk(what, recipe):
    def test(self):
        self.assertEqual(self.break_it(recipe), [], "these do not walk what is registered")

    setattr(Copy, "test_walked_" + re.sub(r"\W+", "_", what), test)


def add_case(what, recipe):
    def test(self):
        if recipe.tests:
            is_passed, said = run(["meson", "test", "-C", self.scratch.build, "--no-rebuild", "-t", "10", *recipe.tests], 600)
            self.assertTrue(is_passed, said)
        for words, part in recipe.commands:
            _, said = run([self.scratch.build / "tyto", *(word.format(build=self.scratch.build) for word in words)], 120)
            self.assertIn(part, said, words)

    setattr(Copy, "test_" + re.sub(r"\W+", "_", what) + "_is_there_once_added", test)


for each in RECIPES.items():
    add_case(*each)
    if each[1].broken:
        add_walk(*each)

if __name__ == "__main__":
    ran = unittest.main(exit=False, defaultTest=["Copy"] if MODE == "--build" else ["Table", "House"]).result
    bad = len(ran.failures) + len(ran.errors)
    skipped = len(ran.skipped)
    print(f"{ran.testsRun - bad - skipped} passed, {bad} failed, {skipped} skipped")
    sys.exit(bool(bad) or not ran.testsRun)
