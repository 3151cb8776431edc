"""A small Hugging Face Hub on the loopback address: what huggingface_hub 2.4.0 asks of it.

GET /api/models/NAME lists the files; HEAD /NAME/resolve/REVISION/FILE gives commit, size and ETag;
a large file lies on another host, to which the answer points.
"""
import hashlib
import json
import os
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "0123456789abcdef0123456789abcdef01234567"
TOKEN = "hf_of_the_tests"


class Hub(ThreadingHTTPServer):
    """repos: {name: {file: bytes}}; log: (method, path, range, token). Faults: the attributes."""
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        self.repos, self.moved, self.log = {}, {}, []
        self.gated, self.private = set(), set()
        self.cuts = {}                  # {file: bytes of the next answers before the line breaks}
        self.change = {}                # {file: function of its bytes}
        self.down = None                # a status for everything
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def put(self, name, folder):
        """A repository with the files of a folder, and such as the real ones have beside them."""
        other = ["README.md", "modeling_gpt2.py", "pytorch_model.bin", "rust_model.ot",
                 "tf_model.h5", "flax_model.msgpack", "onnx/decoder_model.onnx", "64.tflite",
                 "tokenizer.json", "vocab.json", "training_args.pkl"]
        self.repos[name] = {file: b"not to be fetched" for file in other} | {
            path.name: path.read_bytes() for path in folder.iterdir()}
        return self.repos[name]

    def fetched(self):
        """Names of the files that were asked for, sorted, each once."""
        return sorted({path.rsplit("/", 1)[1] for _, path, _, _ in self.log
                       if "/resolve/" in path or "/cdn/" in path})

    def bodies(self, file):
        """The Range of each request for the file's bytes."""
        return [part for method, path, part, _ in self.log
                if method == "GET" and path.endswith("/" + file)]

    def handle_error(self, request, address):
        """Nothing: a client that goes away is no news."""


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        hub, path = self.server, self.path.split("?")[0]
        token = self.headers.get("Authorization")
        hub.log.append((self.command, path, self.headers.get("Range"), token))
        if hub.down:
            return self.reply(hub.down)
        if found := re.fullmatch(r"/cdn/(.+?)//(.+)", path):
            return self.send_file(found[2], hub.repos[found[1]][found[2]])
        found = (re.fullmatch(r"/api/models/(.+)", path)
                 or re.fullmatch(r"/(.+?)/resolve/(main|[0-9a-f]{40})/(.+)", path))
        name = found[1]
        if name in hub.moved:           # "gpt2" is an old name: the Hub sends on to the new one
            return self.reply(307, {"Location": path.replace(f"/{name}", f"/{hub.moved[name]}", 1)})
        if name not in hub.repos or name in hub.private and token != f"Bearer {TOKEN}":
            return self.reply(404 if token else 401, {"X-Error-Code": "RepoNotFound",
                                                      "X-Error-Message": "Repository not found"})
        files = hub.repos[name]
        if path.startswith("/api/"):
            answer = {"id": name, "sha": COMMIT,
                      "siblings": [{"rfilename": file} for file in files]}
            return self.reply(200, {"Content-Type": "application/json"},
                              json.dumps(answer).encode())
        if name in hub.gated and token != f"Bearer {TOKEN}":
            return self.reply(403 if token else 401, {"X-Error-Code": "GatedRepo",
                                                      "X-Error-Message": "Access is restricted"})
        if found[3] not in files:
            return self.reply(404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": COMMIT})
        data = files[found[3]]
        if found[3].endswith(".json"):
            return self.send_file(found[3], data, {
                "ETag": f'"{hashlib.sha1(data).hexdigest()}"', "X-Repo-Commit": COMMIT})
        self.reply(302, {
            "Location": f"http://localhost:{hub.server_port}/cdn/{name}//{found[3]}",
            "X-Repo-Commit": COMMIT, "X-Linked-Size": str(len(data)),
            "X-Linked-ETag": f'"{hashlib.sha256(data).hexdigest()}"'})

    def send_file(self, file, data, headers=()):
        data = self.server.change.get(file, bytes)(data)
        start = int((self.headers.get("Range") or "bytes=0-")[6:-1])
        headers = {**dict(headers), "Accept-Ranges": "bytes"}
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        cuts = self.server.cuts.get(file) if self.command == "GET" else None
        self.reply(206 if start else 200, headers, data[start:], cuts.pop(0) if cuts else None)

    def reply(self, status, headers=(), body=b"", cut=None):
        self.send_response(status)
        for name, value in {**dict(headers), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body[:cut])
        if cut is not None:
            self.close_connection = True


def environment(hub, home, **more):
    """Environment variables of a process that takes this Hub for the real one."""
    ours = ("HF_", "HUGGINGFACE_", "GPT2LAB_MODEL")
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(ours) and "proxy" not in name.lower()}
    return kept | {"HF_ENDPOINT": hub.url, "HF_HOME": str(home)} | more
