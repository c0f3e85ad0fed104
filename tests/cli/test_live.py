#!/usr/bin/env python3
"""tyto run --live: the page of a run in progress, and the server's answers to clients without permission.

usage: test_live.py TYTO SPIN_PTX
"""
import http.client
import http.server
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

TYTO = pathlib.Path(sys.argv[1]).resolve()
SPIN = pathlib.Path(sys.argv[2]).resolve()
REDUCTION = TYTO.parent / "workloads" / "reduction"
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
PLAIN = {key: value for key, value in os.environ.items() if not key.startswith("TYTO_")}
# A program that runs a kernel and then waits for the end of its standard input.
WAITING = ["sh", "-c", f"{REDUCTION} --size 4096 && echo ran && cat"]


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def start(self, *words):
        """A running command, and the address that it prints."""
        command = subprocess.Popen([TYTO, *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, cwd=self.path, env=PLAIN | {"TMPDIR": str(self.path)})
        self.addCleanup(self.end, command)
        line = command.stderr.readline()
        found = re.fullmatch(r"tyto: live at http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/\n", line)
        self.assertIsNotNone(found, line)
        return command, int(found.group(1)), found.group(2)

    def end(self, command):
        if command.poll() is None:
            command.kill()
        command.communicate()

    def ask(self, port, path, method="GET", **fields):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request(method, path, headers=fields)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer, body

    def state(self, port, token):
        answer, body = self.ask(port, f"/{token}/state.json")
        self.assertEqual((answer.status, answer.headers["Content-Type"]), (200, "application/json"))
        return json.loads(body)

    def running(self, port, token):
        """The state of a run as soon as thread blocks are on its SMs. The launch latency comes first."""
        while True:
            seen = self.state(port, token)
            if seen["live"]["state"] != "starting" and seen["live"]["begun_ctas"] > 0:
                return seen

    def send(self, port, request):
        """The answer to arbitrary bytes."""
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            try:
                connection.sendall(request)
                connection.shutdown(socket.SHUT_WR)
                return b"".join(iter(lambda: connection.recv(65536), b""))
            except OSError:  # the server closed the connection, before or after it received everything
                return b""

    def await_end(self, port):
        """Waits until the server ends without help."""
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=60).close()
            except OSError:
                break
        # a killed command leaves the folder of its journals; the next command removes it
        subprocess.run([TYTO, "run", "true"], check=True, env={**PLAIN, "TMPDIR": str(self.path)})
        self.assertEqual([each.name for each in self.path.iterdir() if each.name.startswith(".tyto")], [])


class Run(Case):
    def test_a_kernel_under_way_says_where_it_stands(self):
        command, port, token = self.start("launch", "--machine", "gtx480", "--live", "--quiet", "--json", "out.json", SPIN, "--grid", "64", "--block", "64")
        self.assertEqual(self.ask(port, f"/{token}/")[0].status, 200)
        seen = self.running(port, token)
        live, run = seen["live"], seen["run"]
        self.assertEqual((live["state"], live["launch"], live["ctas"]), ("running", 1, 64))
        self.assertEqual(sum(sm["ctas"] for sm in live["sms"]), live["begun_ctas"] - live["done_ctas"])
        self.assertEqual(sum(sm["warp_instructions"] for sm in live["sms"]), run["total"]["warp_instructions"])
        self.assertEqual(run["total"]["cycles"], live["cycle"])
        self.assertEqual([kernel["status"] for kernel in run["kernels"]], ["running"])
        self.assertEqual(sum(run["samples"]["warp_instructions"]), run["total"]["warp_instructions"])
        [stands] = live["standing"]
        self.assertEqual(sum(stand["warps"] for stand in stands["standing"]), 2 * (live["begun_ctas"] - live["done_ctas"]))
        self.assertTrue(all(line["text"] and line["line"] for line in stands["instructions"]))
        later = self.state(port, token)
        while later["live"]["cycle"] == live["cycle"]:
            later = self.state(port, token)
        self.assertGreater(later["run"]["total"]["warp_instructions"], run["total"]["warp_instructions"])
        command.send_signal(signal.SIGINT)
        command.communicate()
        self.assertEqual(self.state(port, token)["live"], {"state": "ended"})
        self.await_end(port)

    def test_the_last_state_is_the_whole_record_and_a_run_does_not_notice(self):
        command, port, token = self.start("run", "--live", "--quiet", "--json", "live.json", *WAITING)
        while command.stdout.readline() != "ran\n":
            pass
        last = self.state(port, token)
        command.communicate()
        self.assertEqual(command.returncode, 0)
        self.await_end(port)
        subprocess.run([TYTO, "run", "--quiet", "--json", "plain.json", REDUCTION, "--size", "4096"], check=True, cwd=self.path, env=PLAIN, capture_output=True)
        live, plain = (json.loads((self.path / name).read_text()) for name in ("live.json", "plain.json"))
        self.assertEqual(last["live"], {"state": "ended"})
        for run in (last["run"], live, plain):
            del run["host"]
        self.assertEqual(live, plain)
        samples = last["run"].pop("samples")
        self.assertEqual(last["run"], plain)
        self.assertEqual(sum(samples["cycles"]), plain["total"]["cycles"])

    def test_samples_leave_the_counters_alone(self):
        seen = []
        for words in ([], ["--sample", "7"]):
            subprocess.run([TYTO, "run", "--quiet", "--json", "out.json", *words, REDUCTION, "--size", "4096"], check=True, cwd=self.path, env=PLAIN, capture_output=True)
            run = json.loads((self.path / "out.json").read_text())
            seen.append((run["total"], run["kernels"]))
        self.assertEqual(*seen)
        self.assertEqual(sum(run["samples"]["cycles"]), run["total"]["cycles"])

    def test_a_snapshot_is_a_file_for_anybody(self):
        subprocess.run([TYTO, "run", "--quiet", "--sample", "500", "--snapshot", "now.json", REDUCTION, "--size", "4096"], check=True, cwd=self.path, env=PLAIN,
                       capture_output=True)
        held = json.loads((self.path / "now.json").read_text())
        self.assertEqual((held["live"]["state"], held["run"]["samples"]["interval"]), ("ended", 500))

    def test_the_server_ends_with_the_run_however_that_ends(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            command, port, token = self.start("run", "--live", "cat")
            self.assertEqual(self.state(port, token), {"live": {"state": "starting"}})
            command.send_signal(number)
            command.communicate()  # no other process has its output open
            self.await_end(port)

    def test_a_port_can_be_chosen_once(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            chosen = free.getsockname()[1]
        command, port, _ = self.start("run", f"--live={chosen}", "cat")
        self.assertEqual(port, chosen)
        second = subprocess.run([TYTO, "run", f"--live={chosen}", "cat"], capture_output=True, text=True, check=False, env=PLAIN, stdin=subprocess.DEVNULL)
        self.assertEqual(second.returncode, 1)
        self.assertIn(f"--live={chosen}: cannot listen on 127.0.0.1: Address already in use", second.stderr)
        command.communicate()

    def test_what_cannot_be_is_refused(self):
        for words, why in ((["--live=0"], "not a port"), (["--live=x"], "not a port"), (["--live="], "not a port"), (["--live=65536"], "not a port"),
                           (["--live", "--functional"], "needs timing"), (["--live", "--snapshot", "x"], "has its own snapshot")):
            done = subprocess.run([TYTO, "run", *words, "cat"], capture_output=True, text=True, check=False, env=PLAIN, cwd=self.path, stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(why, done.stderr)


class Strangers(Case):
    def setUp(self):
        super().setUp()
        self.command, self.port, self.token = self.start("run", "--live", "cat")

    def test_only_this_host_with_the_token_gets_in(self):
        wrong = "0" * 32
        for path, fields, status in ((f"/{self.token}/", {}, 200), ("/", {}, 404), (f"/{wrong}/", {}, 404), (f"/{wrong}/state.json", {}, 404), (f"/{self.token[:-1]}/", {}, 404),
                                     (f"/{self.token}x/", {}, 404), (f"//{self.token}/", {}, 404), (f"/{self.token}/../../etc/passwd", {}, 404), (f"/{self.token}", {}, 404),
                                     (f"/{self.token}/", {"Host": "evil.example"}, 403), (f"/{self.token}/", {"Host": f"evil.example:{self.port}"}, 403),
                                     (f"/{self.token}/", {"Host": "127.0.0.1"}, 403), (f"/{self.token}/", {"Origin": "http://evil.example"}, 403),
                                     (f"/{self.token}/", {"Host": f"localhost:{self.port}", "Origin": f"http://localhost:{self.port}"}, 200)):
            answer, body = self.ask(self.port, path, **fields)
            self.assertEqual(answer.status, status, (path, fields))
            self.assertEqual(answer.headers["Cache-Control"], "no-store")
            self.assertEqual(answer.headers["Referrer-Policy"], "no-referrer")
            if status != 200:
                self.assertNotIn(self.token.encode(), body)
        answer, body = self.ask(self.port, f"/{self.token}/", method="HEAD")
        self.assertEqual((answer.status, body), (200, b""))
        for method in ("POST", "PUT", "DELETE", "OPTIONS"):
            self.assertEqual(self.ask(self.port, f"/{self.token}/", method=method)[0].status, 405)

    def test_it_listens_on_this_host_alone(self):
        listening = [line.split()[1] for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:] if line.split()[3] == "0A"]
        self.assertIn(f"0100007F:{self.port:04X}", listening)
        self.assertNotIn(f"00000000:{self.port:04X}", listening)

    def test_no_bytes_stop_it(self):
        good = f"GET /{self.token}/state.json HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nAccept: */*\r\n\r\n".encode()
        self.assertIn(b"200 OK", self.send(self.port, good))
        choose = random.Random(1)
        for _ in range(300):
            request = bytearray(good)
            for _ in range(choose.randrange(1, 6)):
                at = choose.randrange(len(request))
                kind = choose.randrange(3)
                if kind == 0:
                    request[at] = choose.randrange(256)
                elif kind == 1:
                    del request[at : at + choose.randrange(20)]
                else:
                    request[at:at] = choose.randbytes(choose.randrange(40))
                request = request or bytearray(b"\0")
            self.send(self.port, bytes(request))
        for request in (b"", b"\0" * 100, b"\r\n\r\n", b"GET " + b"/" * 100000, b"A: b\r\n" * 5000, good[:-2] + b"x" * 9000, choose.randbytes(50000)):
            self.assertNotIn(b"200 OK", self.send(self.port, request))
        said = self.send(self.port, good[:-2] + b"X: " + b"x" * 8192)
        self.assertIn(said[:12], (b"HTTP/1.1 431", b""))  # empty: the server closed the connection before it read everything
        self.assertEqual(self.state(self.port, self.token), {"live": {"state": "starting"}})

    def test_who_says_nothing_keeps_nobody_waiting_for_long(self):
        silent = [socket.create_connection(("127.0.0.1", self.port), timeout=60) for _ in range(40)]
        for connection in silent[:20]:
            connection.sendall(b"GET / HT")
        self.assertEqual(self.state(self.port, self.token), {"live": {"state": "starting"}})
        for connection in silent:
            connection.close()


class Replay(http.server.BaseHTTPRequestHandler):
    """Serves a page and a list of states, one after another. The last state repeats."""

    def do_GET(self):
        body = self.server.page if self.path == "/x/" else self.server.states.pop(0) if len(self.server.states) > 1 else self.server.states[0]
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8" if self.path == "/x/" else "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@unittest.skipUnless(CHROMIUM, "Chromium is not installed")
class Browser(Case):
    def see(self, address, *words):
        return subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1200,900", f"--user-data-dir={self.path / 'profile'}",
                               *words, "--dump-dom", address], capture_output=True, text=True, check=True, timeout=120).stdout

    def replay(self, page, *states):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Replay)
        server.page, server.states = page, [json.dumps(state).encode() for state in states]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return self.see(f"http://127.0.0.1:{server.server_port}/x/", "--virtual-time-budget=3000")

    def test_a_page_shows_a_run_and_follows_it_to_its_end(self):
        command, port, token = self.start("launch", "--live", "--quiet", SPIN, "--grid", "64", "--block", "64")
        first = self.ask(port, f"/{token}/")[1]
        running = self.running(port, token)
        page = self.see(f"http://127.0.0.1:{port}/{token}/")
        command.send_signal(signal.SIGINT)
        command.communicate()
        ended = self.state(port, token)
        self.assertIn("The run is under way.", page)
        self.assertIn('id="live"', page)
        self.assertRegex(page, r"Where the [\d,]+ resident warps wait")
        page = self.replay(first, {"live": {"state": "starting"}}, running)
        self.assertIn("The run is under way.", page)
        self.assertIn('id="hold"', page)
        page = self.replay(first, running, ended)
        self.assertIn("The run has ended", page)
        self.assertIn('id="cycles"', page)
        self.assertNotIn('id="hold"', page)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0)
