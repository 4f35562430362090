"""``python -m benchmarks NAME [ARGUMENT ...]`` runs one benchmark in a process of its own."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
MODULES = {
    path.stem.replace("_", "-"): f"benchmarks.{path.parent.name}.{path.stem}"
    for folder in ("speed", "quality", "agreement", "scale")
    for path in sorted((HERE / folder).glob("*.py"))
    if path.stem != "__init__"
}

if len(sys.argv) < 2 or sys.argv[1] not in MODULES:
    sys.exit(f"usage: python -m benchmarks NAME [ARGUMENT ...]; the names are {', '.join(MODULES)}")
command = [sys.executable, "-m", MODULES[sys.argv[1]], *sys.argv[2:]]
sys.exit(subprocess.run(command, cwd=HERE.parent).returncode)
