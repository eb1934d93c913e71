"""What the documents show is what is there: files are shown as they are, links lead somewhere, no page is lost.

A fence that shows a file stands below ``<!-- file: PATH -->``, the path relative to the document.
``python tests/test_documents.py`` writes the files into their fences anew.
"""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SHOWN = re.compile(
    r"(?P<head><!-- file: (?P<path>\S+) -->\n```(?P<info>[^\n]*)\n)(?P<text>.*?)(?=^```$)", re.DOTALL | re.MULTILINE
)
LINK = re.compile(r"(?<!!)\[[^\]]+\]\((?P<target>[^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def shown(page: Path) -> str:
    """Return a page with every shown file as it is now."""

    def anew(match: re.Match[str]) -> str:
        return match["head"] + (page.parent / match["path"]).read_text(encoding="utf-8")

    return SHOWN.sub(anew, page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(page: Path) -> list[str]:
    """Return where a page's links lead, those to other hosts left out."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return [match["target"] for match in LINK.finditer(text) if "://" not in match["target"]]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_files_are_shown_as_they_are(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.count("<!-- file:") == len(SHOWN.findall(text)), "a fence must follow each marker"
    assert shown(page) == text, f"run: python {Path(__file__).name}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_every_page_can_be_reached_from_the_index() -> None:
    index = ROOT / "docs" / "index.md"
    seen: set[Path] = set()
    pending = [index]
    while pending:
        page = pending.pop()
        if page not in seen:
            seen.add(page)
            targets = ((page.parent / link.partition("#")[0]).resolve() for link in links(page))
            pending += [target for target in targets if target.suffix == ".md"]
    assert {name(page) for page in PAGES} <= {name(page) for page in seen}


@pytest.mark.parametrize("project", sorted((ROOT / "docs" / "examples").glob("*/pyproject.toml")), ids=name)
def test_an_example_distribution_passes_its_own_tests(project: Path, tmp_path: Path) -> None:
    """As if it were installed; ``.ci/run`` builds and installs it in earnest."""
    described = tomllib.loads(project.read_text(encoding="utf-8"))
    information = tmp_path / f"{described['project']['name'].replace('-', '_')}-0.dist-info"
    information.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: {described['project']['name']}\nVersion: 0\n"
    (information / "METADATA").write_text(metadata, encoding="utf-8")
    points = [f"{name} = {module}\n" for name, module in described["project"]["entry-points"]["alignsim"].items()]
    (information / "entry_points.txt").write_text(f"[alignsim]\n{''.join(points)}", encoding="utf-8")
    path = [str(project.parent), str(tmp_path), *sys.path]
    hypothesis = {"HYPOTHESIS_STORAGE_DIRECTORY": str(tmp_path / "hypothesis")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", ".", "tests"],
        cwd=project.parent,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path)), "PYTHONDONTWRITEBYTECODE": "1"}
        | hypothesis,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout + done.stderr


if __name__ == "__main__":
    for each in PAGES:
        each.write_text(shown(each), encoding="utf-8")
