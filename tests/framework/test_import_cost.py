"""Importing the package, writing a plugin and asking a registry load no large library."""

import subprocess
import sys

import pytest

HEAVY = ("click", "networkx", "numpy", "pint", "rich")


def loaded(code):
    program = f"{code}\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import alignsim",
        "from alignsim import hookimpl",
        "from alignsim import scan",
        "from alignsim import Algorithm, Collect, Const, Given, Of, Resource, Term, Total, always, given, term",
        "from alignsim import Registry; assert not Registry().algorithms",
        "from alignsim import Registry, Resource, hookimpl\n"
        "class Acme:\n"
        "    @hookimpl\n"
        "    def alignsim_resources(self):\n"
        "        yield Resource(name='seconds', unit='second')\n"
        "assert list(Registry([Acme]).resources) == ['seconds']",
    ],
)
def test_no_large_library_is_loaded(code):
    assert not loaded(code).intersection(HEAVY)


def test_importing_the_package_loads_none_of_its_modules():
    assert {name for name in loaded("import alignsim") if name.startswith("alignsim.")} == set()


def test_a_plugin_that_only_marks_hooks_needs_only_pluggy():
    ours = {name for name in loaded("from alignsim import hookimpl") if name.startswith("alignsim.")}
    assert ours == {"alignsim.hookspecs"}


def test_a_function_is_not_hidden_by_the_module_of_its_name():
    code = (
        "import alignsim.term, alignsim.given\n"
        "from alignsim import given, term\n"
        "assert given('1 KiB', 'byte').value == 1024\n"
        "assert term('byte')(lambda parameters: parameters).unit == 'byte'"
    )
    assert "alignsim.term" in loaded(code)


def test_names_are_listed_and_a_misspelt_one_is_corrected():
    import alignsim

    assert set(alignsim.__all__) <= set(dir(alignsim))
    assert sorted(alignsim._HOME) == sorted(alignsim.__all__)
    assert all(getattr(alignsim, name) is not None for name in alignsim.__all__)
    with pytest.raises(AttributeError, match="did you mean Algorithm"):
        _ = alignsim.Algorythm
