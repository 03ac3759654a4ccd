"""A whole runner in Python, with nothing but the standard library. It follows docs/wire-protocol.md, over HTTP or over
Connect, and has the workflows of docs/conformance.md:

    python3 runner.py http [ENGINE]
    python3 runner.py connect ENGINE

A workflow is a generator: it yields a step, a list of steps (parallel) or a Race, and gets their results back. A step that
failed for good is thrown where it was yielded.
"""

import base64
import hashlib
import hmac
import json
import os
import secrets
import socket
import struct
import sys
import threading
import time
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

APP, RUNNER = "conform", "conform-1"
KEY = os.environ.get("ENGINE_SIGNING_KEY", "").encode()


class StepFailed(Exception):
    """A stored error of a step, thrown into the handler."""


class NonRetriable(Exception):
    """Thrown in a step: it is not tried again."""


class Race(list):
    """Steps of which the first that settles wins; gives its name."""


def run(name, work, catchable=False):
    """A code step."""

    def report():
        extra = {"catchable": True} if catchable else {}
        try:
            return {"op": "StepRun", "data": work(), **extra}
        except Exception as error:
            if isinstance(error, NonRetriable):
                extra["retriable"] = False
            return {"op": "StepRun", "error": {"message": str(error), "name": type(error).__name__}, **extra}

    return name, report


def step(op, name, **fields):
    """A step that the engine settles."""
    return name, lambda: {"op": op, **{"if" if key == "if_" else key: value for key, value in fields.items()}}


# The workflows of docs/conformance.md.


def sequence(event, ctx, log):
    total = yield run("add", lambda: event["data"]["n"] + 1)
    return {"result": (yield run("double", lambda: total * 2))}


def repeat(event, ctx, log):
    total = 0
    for n in (1, 2, 3):
        total += yield run("Größe ✓", lambda: n)
    return {"sum": total}


def parallel(event, ctx, log):
    left, right, _ = yield [run("left", lambda: "L"), run("right", lambda: "R"), step("Sleep", "rest", sleepMs=60_000)]
    return {"parts": [left, right]}


def retry(event, ctx, log):
    def flaky():
        if ctx["attempt"] < 2:
            raise RuntimeError("not yet")
        return "done"

    return (yield run("flaky", flaky))


def final(event, ctx, log):
    def hopeless():
        raise NonRetriable("never")

    yield run("hopeless", hopeless)


def declined():
    raise RuntimeError("declined")


def catch(event, ctx, log):
    try:
        return {"risky": (yield run("risky", declined, catchable=True))}
    except StepFailed as error:
        message = str(error)
    return {"fallback": (yield run("fallback", lambda: message))}


def fail(event, ctx, log):
    yield run("risky", declined)


def throw(event, ctx, log):
    raise RuntimeError("broken")
    yield


def sleep(event, ctx, log):
    yield step("Sleep", "nap", sleepMs=1500)
    yield step("SleepUntil", "until", sleepUntilMs=event["data"]["atMs"])
    return {"awake": True}


def wait(event, ctx, log):
    approved = yield step(
        "WaitForEvent", "approval", eventName="conform.approved", timeoutMs=60_000, if_="async.data.id == event.data.id"
    )
    return {"by": approved and approved["data"]["by"]}


def child(event, ctx, log):
    try:
        data = {"n": event["data"]["n"]}
        return {"child": (yield step("RunWorkflow", "sum", childName="conform-sequence", childData=data))}
    except StepFailed as error:
        return {"caught": str(error)}


def effects(event, ctx, log):
    yield step("Emit", "tell", eventName="conform.told", data={"n": 1})
    yield step("Webhook", "call", webhookUrl=event["data"]["url"], data={"n": 2})
    return {"sent": True}


def race(event, ctx, log):
    signal = step("WaitForEvent", "signal", eventName="conform.signal", timeoutMs=60_000)
    return {"winner": (yield Race([signal, step("Sleep", "limit", sleepMs=60_000)]))}


def failure(event, ctx, log):
    return None
    yield


def on_failure(event, ctx, log):
    return {"reported": (yield run("report", lambda: ctx["error"]["message"]))}


def logs(event, ctx, log):
    log("info", "hello", n=1)
    return {"logged": True}
    yield


def attempt(event, ctx, log):
    return (yield run("count", lambda: ctx.get("stepAttempts", {}).get(step_id({}, "count"), 1)))


def echo(event, ctx, log):
    return (yield run("echo", lambda: event.get("data")))


HANDLERS = [
    sequence, repeat, parallel, retry, final, catch, fail, throw, sleep, wait, child, effects, race, failure, logs,
    attempt, echo,
]
WORKFLOWS = {f"conform-{handler.__name__}": handler for handler in HANDLERS}
FAILURE_HANDLERS = {"conform-failure": on_failure}


def handle(request):
    """One pass: from the top to the first steps that the memo has no result for. Gives status and body."""
    event, memo, ctx = request["event"], request["steps"], request["ctx"]
    handlers = FAILURE_HANDLERS if ctx.get("onFailure") else WORKFLOWS
    handler = handlers.get(ctx["workflow"])
    if handler is None:
        return 404, {"error": {"message": f"no workflow {ctx['workflow']}"}, "logs": []}
    lines = []

    def log(level, message, **fields):
        lines.append({"level": level, "message": message, "fields": fields, "scope": "@root", "index": len(lines)})

    try:
        status, body = advance(handler(event, ctx, log), memo)
    except StepFailed as error:
        # The step failed for good, and so does the run.
        status, body = 400, {"error": {"message": str(error)}}
    except Exception as error:
        # A fault of this pass, which the engine repeats.
        status, body = 500, {"error": {"message": str(error), "name": type(error).__name__}}
    return status, {**body, "logs": lines}


def advance(running, memo):
    """Gives the handler what is stored, in the order of the memo, until a step has no result."""
    uses, order = {}, list(memo)
    is_settled = lambda key: key in memo and not memo[key].get("pending")
    try:
        yielded = next(running)
        while True:
            is_one = isinstance(yielded, tuple)
            found = [(step_id(uses, name), name, report) for name, report in ([yielded] if is_one else yielded)]
            settled = [key for key, _, _ in found if is_settled(key)]
            failed = next((memo[key]["error"] for key in settled if "error" in memo[key]), None)
            is_over = len(settled) > 0 if isinstance(yielded, Race) else len(settled) == len(found)
            if failed is not None:
                yielded = running.throw(StepFailed(failed["message"]))
            elif not is_over:
                fresh = [(key, name, report) for key, name, report in found if key not in memo]
                return 206, {"opcodes": [{"id": key, "name": name, **report()} for key, name, report in fresh]}
            elif isinstance(yielded, Race):
                first = min(settled, key=order.index)
                yielded = running.send(next(name for key, name, _ in found if key == first))
            else:
                results = [memo[key].get("data") for key, _, _ in found]
                yielded = running.send(results[0] if is_one else results)
    except StopIteration as end:
        return 200, {"data": end.value}


def step_id(uses, name):
    """SHA-256 of the name; the second use of a name hashes `name:1`, the third `name:2`."""
    use = uses[name] = uses.get(name, -1) + 1
    return hashlib.sha256((name if use == 0 else f"{name}:{use}").encode()).hexdigest()


# Signatures.


def is_signed(header, purpose, recipient, body):
    """None if nobody with the key signed the body lately; else whether it is for the recipient."""
    parts = [part.strip().partition("=")[::2] for part in header.split(",")]
    given = lambda name: [value for key, value in parts if key == name]
    t, r = (given("t") or ["0"])[0], (given("r") or [""])[0]
    if not t.isdigit() or abs(time.time() - int(t)) > 300:
        return None
    kind, prefix = ("v2", f"v2.{purpose}.{t}.{r}.") if given("v2") else ("v1", f"{t}.")
    mac = hmac.new(KEY, prefix.encode() + body, hashlib.sha256).hexdigest()
    if not any(hmac.compare_digest(mac, value) for value in given(kind)):
        return None
    return kind == "v1" or r == hashlib.sha256(recipient.encode()).hexdigest()


def refusal(headers, body):
    """The status of a refusal, or None for an invoke that an engine with the key sent to this runner."""
    if headers.get("x-engine-protocol", "1").strip() != "1":
        return 400
    if not KEY:
        return None
    verdict = is_signed(headers.get("x-engine-signature", ""), "invoke", f"{APP}\n{RUNNER}", body)
    return 401 if verdict is None else None if verdict else 503


# HTTP: the engine calls.


class Invokes(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        raw = self.rfile.read(int(self.headers["content-length"]))
        status = refusal(self.headers, raw)
        status, body = handle(json.loads(raw)) if status is None else (status, {"error": {"message": "refused"}})
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def registration(**more):
    workflows = [{"name": name, "onFailure": name in FAILURE_HANDLERS} for name in WORKFLOWS]
    return {"app": APP, "runner": RUNNER, "protocolVersion": 1, "features": ["signature-v2"], "workflows": workflows, **more}


def serve(engine):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Invokes)
    server.daemon_threads = True
    url = f"http://127.0.0.1:{server.server_port}/invoke"

    def register():
        body = json.dumps(registration(url=url)).encode()
        urllib.request.urlopen(urllib.request.Request(engine + "/register", body, {"content-type": "application/json"}))
        timer = threading.Timer(30, register)
        timer.daemon = True
        timer.start()

    if engine:
        threading.Thread(target=register, daemon=True).start()
    print(url, flush=True)
    server.serve_forever()


# Connect: the runner calls. A client of RFC 6455 that suffices for text frames.


class WebSocket:
    def __init__(self, engine):
        host = urllib.parse.urlsplit(engine).netloc
        address, _, port = host.partition(":")
        self.socket = socket.create_connection((address, int(port or 80)), timeout=60)
        self.stream = self.socket.makefile("rb")
        self.sending = threading.Lock()
        key = base64.b64encode(secrets.token_bytes(16)).decode()
        head = [
            "GET /connect HTTP/1.1", f"Host: {host}", "Upgrade: websocket", "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Protocol: engine.connect.v0",
            f"X-Engine-Host: {host}", "", "",
        ]
        self.socket.sendall("\r\n".join(head).encode())
        if b"101" not in self.stream.readline():
            raise ConnectionError("the engine does not speak Connect")
        headers = {}
        while (line := self.stream.readline().strip()) != b"":
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        if KEY and not is_signed(headers.get("x-engine-signature", ""), "connect", host, key.encode()):
            raise ConnectionError("the engine has not our key")

    def read(self):
        """The next text; answers pings on the way."""
        text = b""
        while True:
            first, second = self.exactly(2)
            length = second & 127
            if length > 125:
                length = int.from_bytes(self.exactly(2 if length == 126 else 8), "big")
            content, opcode = self.exactly(length), first & 15
            if opcode == 8:
                raise ConnectionError("the engine closed the socket")
            if opcode == 9:
                self.write(content, 10)
            if opcode in (0, 1):
                text += content
                if first & 128:
                    return text.decode()

    def exactly(self, count):
        content = self.stream.read(count)
        if len(content) < count:
            raise ConnectionError("the socket is lost")
        return content

    def write(self, content, opcode=1):
        length = len(content)
        size = bytes([128 | length]) if length < 126 else bytes([254]) + struct.pack(">H", length)
        if length > 65_535:
            size = bytes([255]) + struct.pack(">Q", length)
        mask = secrets.token_bytes(4)
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(content))
        with self.sending:
            self.socket.sendall(bytes([128 | opcode]) + size + mask + masked)

    def send(self, kind, id, payload):
        self.write(json.dumps({"type": kind, "id": id, "payload": payload}).encode())

    def close(self):
        self.stream.close()
        self.socket.close()


def answer(ws, frame):
    status, body = handle(frame["payload"])
    ws.send("invoke.result", frame["id"], {"status": status, "body": body})


def converse(ws):
    ws.send("hello", "1", {"protocolVersion": 1})
    ws.send("runner.register", "2", registration())
    while True:
        frame = json.loads(ws.read())
        if frame["type"] == "runner.registered":
            print("registered", flush=True)
        elif frame["type"] == "invoke":
            threading.Thread(target=answer, args=(ws, frame), daemon=True).start()


def dial(engine):
    while True:
        ws = None
        try:
            ws = WebSocket(engine)
            converse(ws)
        except OSError:
            time.sleep(0.2)
        finally:
            if ws:
                ws.close()


if __name__ == "__main__":
    transport, engine = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
    dial(engine) if transport == "connect" else serve(engine)
