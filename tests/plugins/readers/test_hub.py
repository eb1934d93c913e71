"""Models of the Hub, from a server of our own: nothing is asked of anybody unless one says hub:."""

import json
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from threading import Thread

import pytest

from alignsim import InvalidInput, default_registry
from plugins.readers.conftest import TINY

COMMIT = "0123456789abcdef0123456789abcdef01234567"
PROGRAM = """
import sys
from alignsim import InvalidInput, default_registry
for address in sys.argv[1:]:
    try:
        found = default_registry().read("architectures", address)
        print(found.item.name, found.item.layers, found.item.sources["layers"], found.notes[0], sep="|")
    except InvalidInput as error:
        print("refused", str(error).replace(chr(10), " "), sep="|")
"""


FILES = {
    **{f"/acme/tiny/resolve/{where}/config.json": json.dumps(TINY).encode() for where in ("main", "v2", COMMIT)},
    "/acme/large/resolve/main/config.json": b" " * (5 * 2**20),
    "/acme/wrong/resolve/main/config.json": json.dumps({**TINY, "hidden_size": -1}).encode(),
}


class Hub(BaseHTTPRequestHandler):
    def do_HEAD(self):
        self.do_GET(body=False)

    def do_GET(self, body=True):
        content = FILES.get(self.path.partition("?")[0])
        self.send_response(404 if content is None else 200)
        if content is None:
            self.send_header("X-Error-Code", "RepoNotFound")
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", f'"{len(content or b""):040x}"')
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        if body and content:
            self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture
def ask(tmp_path):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    Thread(target=server.serve_forever, daemon=True).start()

    def asked(*addresses):
        settings = {
            "HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}",
            "HF_HOME": str(tmp_path / "hub"),
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_XET": "1",
            "NO_PROXY": "127.0.0.1",
        }
        program = [sys.executable, "-c", PROGRAM, *addresses]
        done = subprocess.run(program, capture_output=True, text=True, check=True, env={**os.environ, **settings})
        return [line.split("|") for line in done.stdout.splitlines()]

    yield asked
    server.shutdown()
    server.server_close()


@pytest.mark.skipif(not find_spec("huggingface_hub"), reason="needs huggingface_hub: nox -s hub")
def test_a_model_of_the_hub(ask):
    where = f"hub:acme/tiny@{COMMIT}/config.json:1:25, num_hidden_layers"
    assert ask("hub:acme/tiny", "hub:acme/tiny@v2") == [["tiny", "2", where, f"commit {COMMIT} of acme/tiny"]] * 2


@pytest.mark.skipif(not find_spec("huggingface_hub"), reason="needs huggingface_hub: nox -s hub")
def test_what_the_hub_has_not_or_has_wrong(ask):
    missing, large, wrong = ask("hub:acme/none", "hub:acme/large", "hub:acme/wrong")
    assert missing[1].startswith("hub:acme/none: cannot be had from the Hub: ")
    assert "404" in missing[1]
    assert large[1] == "hub:acme/large: its config.json has 5242880 bytes; at most 4,194,304 are read"
    assert wrong[1] == f"hub:acme/wrong@{COMMIT}/config.json:1:49: hidden_size: must be at least 0, got -1"


@pytest.mark.parametrize("address", ["hub:", "hub:tiny", "hub:a/b/c", "hub:../../etc", "hub:a/b@", "hub:a/b?x=1"])
def test_what_is_no_address_is_not_asked_for(address):
    with pytest.raises(InvalidInput, match="expected hub:ORGANISATION/NAME"):
        default_registry().read("architectures", address)


def test_without_the_library_one_is_told_how(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(InvalidInput, match=r"needs huggingface_hub: pip install 'alignsim\[hub\]'"):
        default_registry().resolve("architectures", "hub:acme/tiny")
