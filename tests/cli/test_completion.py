#!/usr/bin/env python3
"""Shell completion as users see it: the test types words in a terminal and presses Tab.

usage: test_completion.py TYTO FOLDER     FOLDER: the completion scripts that the build makes
"""
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import sys
import tempfile
import unittest

TYTO, COMPLETION = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
SECONDS = 60
SHOW, ALL = "\x18s", "\x18a"  # keys: print the line; insert all matches into it

BASH = f"""
PS1='' PS2=''
source '{COMPLETION}/tyto'
bind 'set bell-style none' 'set enable-bracketed-paste off' 'set page-completions off'
bind '"\\C-xa": insert-completions'
bind -x '"\\C-xs": printf "<<%s>>\\n" "$READLINE_LINE"; READLINE_LINE='
"""
ZSH = f"""
PS1='' PS2='' RPS1='' PROMPT_EOL_MARK=''
unsetopt beep zle_bracketed_paste 2>/dev/null
unset zle_bracketed_paste
fpath=('{COMPLETION}' $fpath)
autoload -Uz compinit
compinit -u -d ./dump
show() {{ print -r -- "<<$BUFFER>>"; BUFFER= }}
zle -N show
bindkey -e
bindkey '^Xs' show
zle -C all-matches complete-word _generic
bindkey '^Xa' all-matches
zstyle ':completion:all-matches:*' completer _all_matches _complete
zstyle ':completion:all-matches:*' insert yes
zstyle ':completion:*' list-prompt ''
"""


class Terminal:
    """A shell in its own terminal."""

    def __init__(self, folder, start, *words):
        environment = {"PATH": f"{TYTO.parent}:/usr/bin:/bin", "HOME": str(folder), "ZDOTDIR": str(folder), "TERM": "dumb", "LC_ALL": "C.UTF-8"}
        self.read = ""
        self.child, self.file = pty.fork()
        if self.child == 0:
            os.chdir(folder)
            os.execvpe(words[0], words, environment)
        (folder / "start").write_text(start + "echo begun-$((40 + 2))\n")
        self.type(". ./start\n")
        self.wait("begun-42")

    def type(self, text):
        os.write(self.file, text.encode())

    def wait(self, pattern):
        """Waits until the terminal's output matches the pattern; returns the match."""
        while not (found := re.search(pattern, self.read, re.S)):
            if not select.select([self.file], [], [], SECONDS)[0]:
                raise AssertionError(f"no {pattern} in {self.read!r}")
            self.read += os.read(self.file, 1 << 16).decode(errors="replace")
        self.read = self.read[found.end():]
        return found

    def complete(self, line, key="\t"):
        """The line after these words and the key."""
        self.type(line + key + SHOW)
        return self.wait(r"<<(.*?)>>\r?\n").group(1).replace("\r", "").replace("\n", "")

    def close(self):
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)
        os.close(self.file)


class Shell:
    """What every shell must do. `words` is the shell's command, and `start` loads the completion."""

    def setUp(self):
        if not shutil.which(self.words[0]):
            self.skipTest(f"{self.words[0]} is not installed")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        (pathlib.Path(folder.name) / "mine.json").write_text("{}")
        self.terminal = Terminal(pathlib.Path(folder.name), self.start, *self.words)
        self.addCleanup(self.terminal.close)

    def test_a_word_that_can_be_but_one_is_completed(self):
        for line, completed in (("tyto explai", "tyto explain "), ("tyto run --machine ow", "tyto run --machine owl "), ("tyto run mat", "tyto run matmul "),
                                ("tyto explain l1d_MP", "tyto explain l1d_MPKI "), ("tyto explain contended", "tyto explain contended-atomics "), ("tyto compare --plo", "tyto compare --plot "),
                                ("tyto reproduce owl-figure-1", "tyto reproduce owl-figure-1"), ("tyto new sch", "tyto new scheduler "),
                                ("tyto run --json mi", "tyto run --json mine.json ")):
            with self.subTest(line):
                self.assertEqual(self.terminal.complete(line), completed)

    def test_all_that_a_word_can_be_is_offered(self):
        for line, offered in (("tyto comp", "tyto compare completion "), ("tyto run --scheduler tw", "tyto run --scheduler two-level two-level-active "),
                              ("tyto sweep --engine ", "tyto sweep --engine local slurm "), ("tyto run --per", "tyto run --per-unit --per-unit-csv ")):
            with self.subTest(line):
                self.assertEqual(self.terminal.complete(line, ALL), offered)

    def test_nothing_is_made_up(self):
        self.assertEqual(self.terminal.complete("tyto nonsense --ma").strip(), "tyto nonsense --ma")


class Bash(Shell, unittest.TestCase):
    words, start = ("bash", "--norc", "--noprofile", "-i"), BASH


class Zsh(Shell, unittest.TestCase):
    words, start = ("zsh", "-f", "-i"), ZSH


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0)
