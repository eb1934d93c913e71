"""Checks that need more than the lock file has, each by itself; none is part of the usual run.

``nox -l`` lists them, ``nox -s NAME`` runs one. Versions are those that results were obtained with.
"""

import os

import nox

nox.options.default_venv_backend = "venv"
nox.options.sessions = []


def _prepare(session: nox.Session, *more: str) -> None:
    """Install what is locked, alignsim itself, and more."""
    session.env["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    session.install("--no-deps", "--require-hashes", "-r", "requirements.lock")
    session.install("--no-deps", "--no-build-isolation", "-e", ".")
    if more:
        session.install(*more)


@nox.session
def config_files(session: nox.Session) -> None:
    """Every config.json that aiconfigurator-core ships (82 MB) is counted, or refused in words."""
    _prepare(session, "--no-deps", "--require-hashes", "-r", ".ci/config_files.lock")
    session.run("pytest", "-q", "tests/validation/config_files", *session.posargs)


@nox.session
def transformers(session: nox.Session) -> None:
    """A second opinion: parameters counted by transformers on PyTorch's meta device (large)."""
    _prepare(session, "--no-deps", "--require-hashes", "-r", ".ci/config_files.lock")
    session.install("torch==2.13.0", "transformers==5.24.0")
    session.env["HF_HUB_OFFLINE"] = "1"
    session.run("python", "tests/validation/transformers_counts/count.py")
    session.run(
        "pytest", "-q", "tests/validation/config_files", "tests/validation/transformers_counts", *session.posargs
    )


@nox.session
def hub(session: nox.Session) -> None:
    """Models of the Hub, with the true huggingface_hub against a server of our own."""
    _prepare(session, "huggingface_hub==2.4.0")
    session.run("pytest", "-q", "tests/plugins/readers/test_hub.py", *session.posargs)


@nox.session
def fuzz(session: nox.Session) -> None:
    """Many more random files, other ones every time; how many of each kind is ALIGNSIM_HUNT."""
    _prepare(session)
    session.env["ALIGNSIM_HUNT"] = os.environ.get("ALIGNSIM_HUNT", "2000")
    files = "tests/plugins/readers/test_any_file.py", "tests/plugins/test_any_run_file.py"
    session.run("pytest", "-q", *files, *session.posargs)


@nox.session
def atheris(session: nox.Session) -> None:
    """Run files made by atheris, which looks for bytes that reach new code; wheels are for Linux alone."""
    _prepare(session, "atheris==3.0.0")
    session.run("python", "tests/fuzz/run_files.py", *(session.posargs or ["-max_total_time=60", "-timeout=10"]))
