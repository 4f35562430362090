"""The older package of our name, in a virtual environment of its own (its import name is the same as ours).

``PeerProcess`` keeps one Python process there and runs snippets in it, so that both sides can be timed in turns.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

REQUIREMENT = "soft-clustering==0.2.0"
_SERVER = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
names = {}
for line in sys.stdin:
    code = json.loads(line)
    start = time.perf_counter()
    exec(code, names)
    print(json.dumps([time.perf_counter() - start, names.get("answer")]), flush=True)
"""


def peer_python(folder: str | None = None) -> str:
    """The interpreter of the peer's environment, which is made on first use."""
    root = Path(folder or Path(tempfile.gettempdir()) / "soft-clustering-peer")
    python = root / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    if not python.exists():
        venv.create(root, with_pip=True)
        # its torch models are not needed here, and torch is large
        subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", REQUIREMENT], check=True)
        subprocess.run(
            [python, "-m", "pip", "install", "-q", "numpy", "scipy", "scikit-learn", "typeguard"], check=True
        )
    return str(python)


class PeerProcess:
    """Run snippets in the peer's environment: ``run(code)`` gives (seconds, value of ``answer``)."""

    def __init__(self, folder: str | None = None) -> None:
        # -I: neither this folder nor PYTHONPATH, or it would import us
        command = [peer_python(folder), "-I", "-c", _SERVER]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        version = "from importlib.metadata import version\nanswer = version('soft-clustering')"
        assert self.run(version)[1] == REQUIREMENT.partition("==")[2]
        self.run("import soft_clustering\nanswer = hasattr(soft_clustering, '_registry')")
        assert self.run("answer = hasattr(soft_clustering, '_registry')")[1] is False

    def run(self, code: str) -> tuple[float, object]:
        """Time one snippet."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(code) + "\n")
        self._process.stdin.flush()
        seconds, answer = json.loads(self._process.stdout.readline())
        return seconds, answer

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.wait()
