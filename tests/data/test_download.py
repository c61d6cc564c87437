import hashlib
import random
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from simloss.data import DataError, download

CONTENT = random.Random(0).randbytes(1_000_000)
MD5 = hashlib.md5(CONTENT).hexdigest()
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves CONTENT on this machine, with the faults a test asks for.

    Attributes:
        requests: the Range header of each request.
        content: what is served.
        knows_ranges: whether Range is obeyed.
        cuts: the connection is cut after so many bytes, one entry a request.
        statuses: answer these instead, one entry a request.
        wrong_range: answer a Range with another one.
        tells_length: whether there is a Content-Length.
    """

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests, self.content = [], CONTENT
        self.knows_ranges = self.tells_length = True
        self.cuts, self.statuses, self.wrong_range = [], [], False
        self.url = f"http://127.0.0.1:{self.server_port}/file"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        asked = self.headers.get("Range")
        server.requests.append(asked)
        if server.statuses and (status := server.statuses.pop(0)):
            self.send_error(status)
            return
        start = int(re.fullmatch(r"bytes=(\d+)-", asked)[1]) if asked else 0
        if not server.knows_ranges:
            start = 0
        if start and start >= len(server.content):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(server.content)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206 if start else 200)
        if start:
            told = start + 5 if server.wrong_range else start
            end = len(server.content)
            self.send_header("Content-Range", f"bytes {told}-{end - 1}/{end}")
        if server.tells_length:
            self.send_header("Content-Length", str(len(server.content) - start))
        self.end_headers()
        cut = server.cuts.pop(0) if server.cuts else None
        self.wfile.write(server.content[start:][:cut])
        self.close_connection = True

    def log_message(self, *_):
        pass


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def server():
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def fetch(server, path, **options):
    options = {"md5": MD5, "pause": 0, "timeout": 5, **options}
    return download(server.url, path, **options)


def part_of(path):
    return path.with_name(path.name + ".part")


@pytest.mark.parametrize("checksum", [{"md5": MD5}, {"sha256": SHA256.upper(), "md5": None}])
def test_fetched_and_only_the_file_is_left(checksum, server, tmp_path):
    path = tmp_path / "new" / "folder" / "file"
    assert fetch(server, path, **checksum) == path
    assert path.read_bytes() == CONTENT
    assert list(path.parent.iterdir()) == [path]
    assert server.requests == [None]


def test_file_that_is_there_is_not_fetched_again(server, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(CONTENT)
    fetch(server, path)
    assert server.requests == []


def test_other_file_in_its_place_is_replaced(server, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(CONTENT[:-1])
    fetch(server, path)
    assert path.read_bytes() == CONTENT


def test_cut_connections_are_resumed(server, tmp_path):
    server.cuts = [400_000, 300_000]
    fetch(server, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert server.requests == [None, "bytes=400000-", "bytes=700000-"]


def test_cut_connection_without_ranges_starts_again(server, tmp_path):
    server.knows_ranges, server.cuts = False, [400_000]
    fetch(server, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert server.requests == [None, "bytes=400000-"]


def test_broken_off_for_good_keeps_what_came_and_the_next_call_goes_on(server, tmp_path):
    path = tmp_path / "file"
    server.cuts = [100_000] * 3
    with pytest.raises(
        DataError,
        match=r"could not be downloaded in 3 attempts \(it was interrupted after 300,000 of "
        r"1,000,000 bytes\); the first 300,000 bytes are kept: run it again to continue\.",
    ):
        fetch(server, path, attempts=3)
    assert not path.exists()
    assert part_of(path).read_bytes() == CONTENT[:300_000]
    fetch(server, path)
    assert path.read_bytes() == CONTENT
    assert server.requests[-1] == "bytes=300000-"


def test_part_that_is_whole_already_is_only_checked(server, tmp_path):
    part_of(tmp_path / "file").write_bytes(CONTENT)
    fetch(server, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert server.requests == ["bytes=1000000-"]


@pytest.mark.parametrize("old", [b"x" * 500, b"x" * 2_000_000, b"x" * len(CONTENT)])
def test_part_of_another_file_is_given_up(old, server, tmp_path):
    part_of(tmp_path / "file").write_bytes(old)
    fetch(server, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert server.requests[-1] is None


def test_wrong_part_sent_is_given_up(server, tmp_path):
    server.cuts, server.wrong_range = [1000], True
    fetch(server, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert server.requests == [None, "bytes=1000-", None]


@pytest.mark.parametrize("checksum", [{"md5": "0" * 32}, {"sha256": "0" * 64}])
def test_wrong_checksum_leaves_nothing(checksum, server, tmp_path):
    kind = next(iter(checksum))
    with pytest.raises(
        DataError, match=rf"its {kind} is [0-9a-f]+ instead of 0+; it was deleted\."
    ):
        fetch(server, tmp_path / "file", **checksum)
    assert list(tmp_path.iterdir()) == []
    assert server.requests == [None]


def test_cut_off_file_of_unknown_length_fails_the_checksum(server, tmp_path):
    server.tells_length, server.cuts = False, [400_000]
    with pytest.raises(DataError, match="its md5 is"):
        fetch(server, tmp_path / "file")
    assert list(tmp_path.iterdir()) == []


def test_unknown_length_will_do(server, tmp_path):
    server.tells_length = False
    calls = []
    fetch(server, tmp_path / "file", progress=lambda *call: calls.append(call))
    assert calls[-1] == (len(CONTENT), 0)


def test_busy_server_is_asked_again(server, tmp_path):
    server.statuses = [503, 500, None]
    fetch(server, tmp_path / "file")
    assert len(server.requests) == 3


def test_missing_file_is_not(server, tmp_path):
    server.statuses = [404]
    with pytest.raises(
        DataError, match=r"cannot be downloaded: the server answers 404 Not Found\."
    ):
        fetch(server, tmp_path / "file")
    assert len(server.requests) == 1


def test_nobody_there(tmp_path):
    with Server() as gone:
        pass
    with pytest.raises(DataError, match=r"in 2 attempts \(.*refused.*the first 0 bytes"):
        fetch(gone, tmp_path / "file", attempts=2)


def test_progress_goes_on_after_a_resumption(server, tmp_path):
    server.cuts, calls = [400_000], []
    fetch(server, tmp_path / "file", progress=lambda *call: calls.append(call))
    done, totals = zip(*calls, strict=True)
    assert list(done) == sorted(done)
    assert done[-1] == len(CONTENT)
    assert set(totals) == {len(CONTENT)}


def test_folder_that_cannot_be_made(server, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DataError, match=r"file/x' cannot be written: (Not a dir|File exists)"):
        fetch(server, tmp_path / "file" / "x")
    assert server.requests == []


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://host/x", "host/x"])
def test_other_addresses(url, tmp_path):
    with pytest.raises(ValueError, match=r"`url` must begin with http:// or https://, but got"):
        download(url, tmp_path / "x", md5=MD5)


def test_no_checksum(tmp_path):
    with pytest.raises(ValueError, match="`sha256` or `md5` must be given"):
        download("http://127.0.0.1/x", tmp_path / "x")


def test_no_attempts(tmp_path):
    with pytest.raises(ValueError, match="`attempts` must be at least 1, but got 0"):
        download("http://127.0.0.1/x", tmp_path / "x", md5=MD5, attempts=0)
