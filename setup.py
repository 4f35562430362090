"""Build of the compiled kernels; everything else about the package is in pyproject.toml."""

import hashlib
import os
import re
import tempfile
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

KERNELS = Path("src/soft_clustering/kernels")
SOURCES = sorted([*KERNELS.glob("*.h"), *KERNELS.glob("*.pyx")])
REQUIRED = os.environ.get("SOFT_CLUSTERING_REQUIRE_KERNELS") == "1"
FURTHER_FLAGS = os.environ.get("SOFT_CLUSTERING_FLAGS", "").split()  # for compiler and linker: tools/sanitize.py


def source_hash() -> str:
    """Hash of the kernel sources, compiled in so that a stale build is noticed."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in SOURCES)).hexdigest()[:16]


def rules(header: str, macro: str) -> str:
    """The list of the rules that a header defines by lines ``macro(name)``, as X(name)X(name)..."""
    names = re.findall(rf"^{macro}\((\w+)\)", (KERNELS / header).read_text(encoding="utf-8"), re.MULTILINE)
    return "".join(f"X({name})" for name in names)


class BuildKernels(build_ext):
    """Set flags per compiler, and OpenMP if it compiles; a failing build is an error only if kernels are required."""

    def build_extension(self, extension):
        """Build with the flags that this compiler takes."""
        if self.compiler.compiler_type == "msvc":
            compile_args, openmp = ["/O2", "/fp:precise", "/openmp"], []
        else:
            compile_args = ["-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast"]
            openmp = ["-fopenmp"] if self.compiles_with("-fopenmp") else []
        extension.extra_compile_args = compile_args + openmp + FURTHER_FLAGS
        extension.extra_link_args = openmp + FURTHER_FLAGS
        # This is set here, not in the constructor, as cythonize drops it.
        extension.optional = not REQUIRED
        super().build_extension(extension)

    def compiles_with(self, flag: str) -> bool:
        """Whether a small OpenMP program compiles and links with the flag."""
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "probe.c")
            source.write_text("#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n")
            try:
                objects = self.compiler.compile([str(source)], output_dir=folder, extra_postargs=[flag])
                self.compiler.link_executable(objects, str(Path(folder, "probe")), extra_postargs=[flag])
            except Exception:
                return False
        return True


def extensions() -> list[Extension]:
    """The kernels, or nothing if Cython is missing and they are not required."""
    try:
        from Cython.Build import cythonize
    except ImportError:
        if REQUIRED:
            raise
        return []
    kernels = Extension(
        "soft_clustering.kernels._compiled",
        [str(KERNELS / "_compiled.pyx")],
        include_dirs=[str(KERNELS)],
        depends=[str(path) for path in SOURCES],
        define_macros=[
            ("SOURCE_HASH", f'"{source_hash()}"'),
            ("RULE_LIST", rules("rules.h", "RULE")),
            ("GAUSS_RULE_LIST", rules("gauss.h", "GAUSS_RULE")),
        ],
    )
    return cythonize([kernels], build_dir="build", language_level=3)


built = extensions()
for extension in built:
    extension.optional = not REQUIRED
setup(ext_modules=built, cmdclass={"build_ext": BuildKernels})
