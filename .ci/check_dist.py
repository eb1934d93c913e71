"""Check the wheel and the sdist in a folder: all that the packages hold, and nothing else."""

import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

PACKAGES = {
    "alignsim": "framework",
    "alignsim_plugins": "plugins",
    "alignsim_hardware": "hardware_plugins",
}
BESIDE = ["LICENSE", "NOTICE", "README.md", "CHANGELOG.md", "pyproject.toml", "requirements.lock"]


def files_of(folder: str) -> set[str]:
    paths = (path for path in Path(folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.as_posix() for path in paths}


def check_same(what: str, found: set[str], wanted: set[str]) -> int:
    for path in sorted(wanted - found):
        print(f"{what}: missing {path}")
    for path in sorted(found - wanted):
        print(f"{what}: unexpected {path}")
    return len(found ^ wanted)


def check_wheel(path: Path) -> int:
    with zipfile.ZipFile(path) as wheel:
        names = {name for name in wheel.namelist() if not name.endswith("/")}
    information = {name for name in names if PurePosixPath(name).parts[0].endswith(".dist-info")}
    wanted = set()
    for package, folder in PACKAGES.items():
        wanted |= {name.removeprefix(f"{folder}/") for name in files_of(f"{folder}/{package}")}
        wanted |= {f"{package}/__init__.py", f"{package}/py.typed"}
    problems = check_same(path.name, names - information, wanted)
    for licence in ("LICENSE", "NOTICE"):
        if not any(name.endswith(f".dist-info/licenses/{licence}") for name in information):
            print(f"{path.name}: missing {licence}")
            problems += 1
    return problems


def check_sdist(path: Path) -> int:
    with tarfile.open(path) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames() if sdist.getmember(name).isfile()}
    folders = [*PACKAGES.values(), "tests", "docs"]
    wanted = {*BESIDE, "conftest.py"}.union(*map(files_of, folders))
    return check_same(path.name, names - {"PKG-INFO", ".gitignore"}, wanted)


def main() -> int:
    folder = Path(sys.argv[1])
    (wheel,) = folder.glob("*.whl")
    (sdist,) = folder.glob("*.tar.gz")
    problems = check_wheel(wheel) + check_sdist(sdist)
    print(f"{wheel.name}, {sdist.name}: {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
