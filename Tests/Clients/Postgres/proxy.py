"""proxy.py - a server's Unix socket again, behind a latency: each byte arrives half the given time later, in both directions.

`disguise` are pairs of bytes of one length: what the server says has the second in place of the first.
"""
import os, queue, socket, threading, time


class Proxy:
    """Listens in `folder`, where PostgreSQL's clients look for port 5432, and passes on to the socket `server`."""

    def __init__(self, folder, server):
        self.folder, self.server, self.latency, self.links = folder, server, 0.0, []
        self.disguise = []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(os.path.join(folder, ".s.PGSQL.5432"))
        self.listener.listen(50)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.server)
            self.links += [client, server]
            for source, target in ((client, server), (server, client)):
                parts = queue.SimpleQueue()
                threading.Thread(target=self.read, args=(source, parts), daemon=True).start()
                threading.Thread(target=self.write, args=(parts, target), daemon=True).start()

    def read(self, source, parts):
        data = b"x"
        while data:
            try:
                data = source.recv(1 << 16)
            except OSError:
                data = b""
            for said, heard in self.disguise:
                data = data.replace(said, heard)
            parts.put((time.perf_counter() + self.latency / 2, data))

    def write(self, parts, target):
        while True:
            due, data = parts.get()
            left = due - time.perf_counter()
            if left > 0:
                time.sleep(left)
            try:
                if not data:
                    target.shutdown(socket.SHUT_RDWR)
                    return
                target.sendall(data)
            except OSError:
                return

    def cut(self):
        """Every connection ends, as when the network goes."""
        for link in self.links:
            try:
                link.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.links = []
