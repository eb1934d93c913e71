"""Plugins are found where they are installed, each by itself, and in no order that matters."""

import itertools
import pickle
import sys
from importlib import import_module

import pytest

from alignsim import Algorithm, Registry, default_registry, load_file, scan
from alignsim.errors import PluginError, UnknownName

ACME = """
from alignsim import Resource, hookimpl

@hookimpl
def alignsim_resources():
    yield Resource(name="{name}", unit="byte")
"""
ASKING = "from alignsim import default_registry\ndefault_registry().resources\n"
BROKEN = "import a_library_that_is_not_there\n"


def resource(name):
    return ACME.replace("{name}", name)


def test_an_installed_plugin_is_found_at_the_first_question(install):
    install("alignsim-acme", {"acme": "acme_one"}, {"acme_one.py": resource("tape")})
    registry = Registry(discover=True)
    assert "acme_one" not in sys.modules
    assert list(registry.resources) == ["tape"]
    assert str(registry.resources.origin("tape")) == "acme (alignsim-acme 0.1)"


def test_one_entry_point_stands_for_all_modules_of_a_package(install):
    package = {
        "acme_all/__init__.py": "from alignsim import scan\nmodules = scan(__name__)\n",
        "acme_all/tape.py": resource("tape"),
        "acme_all/disks/__init__.py": "",
        "acme_all/disks/fast.py": resource("fast-disk"),
        "acme_all/plain/slow.py": resource("slow-disk"),
        "acme_all/helpers.py": "used = True\n",
        "acme_all/__main__.py": "raise SystemExit('nobody asked to run this')\n",
        "acme_all/_private.py": BROKEN,
        "acme_all/tests/test_tape.py": BROKEN,
        "acme_all/conftest.py": BROKEN,
        "acme_all/data/notes.txt": "no module",
    }
    install("alignsim-acme", {"acme": "acme_all:modules"}, package)
    registry = Registry(discover=True)
    assert list(registry.resources) == ["fast-disk", "slow-disk", "tape"]
    assert registry.resources.origin("slow-disk").plugin == "acme_all.plain.slow"
    assert not registry.failures
    assert "acme_all.helpers" not in [report.provider.plugin for report in registry.plugins]


def test_a_broken_module_keeps_none_of_the_others_away(install):
    package = {
        "acme_mix/__init__.py": "from alignsim import scan\nmodules = scan(__name__)\n",
        "acme_mix/good.py": resource("good"),
        "acme_mix/bad/__init__.py": BROKEN,
        "acme_mix/bad/inner.py": resource("inner"),
    }
    install("alignsim-acme", {"acme": "acme_mix:modules"}, package)
    registry = Registry(discover=True)
    assert list(registry.resources) == ["good"]
    (failure,) = registry.failures
    assert str(failure).startswith(
        "plugin acme_mix.bad (alignsim-acme 0.1) failed to load: "
        "ModuleNotFoundError: No module named 'a_library_that_is_not_there'"
    )
    assert str(failure).endswith("bad/__init__.py:1)")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (BROKEN, "ModuleNotFoundError: No module named 'a_library_that_is_not_there'"),
        ("1 / 0\n", "ZeroDivisionError: division by zero"),
        ("def broken(:\n", "SyntaxError: "),
        ("raise SystemExit(3)\n", "SystemExit: 3"),
        ("ALIGNSIM_API = 99\n" + resource("x"), "is written for plugin API 99; this alignsim speaks 1"),
        ("", "offers nothing: no function of it is marked with @hookimpl"),
        ("from alignsim import scan\nmodules = scan(__name__)\n", "let its entry point name acme_bad:modules"),
        (ASKING + resource("x"), "ask in a hook instead"),
    ],
)
def test_a_plugin_that_cannot_be_loaded_is_told_of_where_a_name_is_missing(install, source, reason):
    install("alignsim-acme", {"acme": "acme_bad"}, {"acme_bad.py": source})
    install("alignsim-other", {"other": "acme_other"}, {"acme_other.py": resource("tape")})
    registry = default_registry()
    assert list(registry.resources) == ["tape"]
    with pytest.raises(UnknownName, match=r"plugin acme .alignsim-acme 0.1. failed to load: ") as error:
        _ = registry.resources["scratch"]
    assert reason in str(error.value)
    reports = {report.provider.plugin: report.status for report in registry.plugins}
    assert reports == {"acme": "failed", "other": "loaded"}
    default_registry.cache_clear()
    with pytest.raises(PluginError, match="failed to load"):
        _ = Registry(discover=True, strict=True).resources


def test_a_whole_package_can_be_of_another_api(install):
    files = {
        "acme_api/__init__.py": "ALIGNSIM_API = 2\nfrom alignsim import scan\nmodules = scan(__name__)\n",
        "acme_api/a.py": resource("a"),
    }
    install("alignsim-acme", {"acme": "acme_api:modules"}, files)
    registry = Registry(discover=True)
    assert [str(f) for f in registry.failures] == [
        "plugin acme (alignsim-acme 0.1) failed to load: is written for plugin API 2; this alignsim speaks 1"
    ]
    assert "acme_api.a" not in sys.modules


def test_the_order_of_installation_changes_nothing(install, monkeypatch):
    offers = {"a": "a", "b": "b", "c": "a"}
    sites = [
        str(install(f"alignsim-{name}", {name: f"acme_{name}"}, {f"acme_{name}.py": resource(offer)}))
        for name, offer in offers.items()
    ]
    rest = [entry for entry in sys.path if entry not in sites]
    answers = set()
    for order in itertools.permutations(sites):
        monkeypatch.setattr(sys, "path", [*order, *rest])
        registry = Registry(discover=True)
        assert list(registry.resources) == ["b"]
        answers.add((str(registry.resources.clashes["a"]), str(registry.plugins)))
    assert len(answers) == 1


def test_two_distributions_may_call_their_entry_points_alike(install):
    install("alignsim-one", {"plugins": "acme_a"}, {"acme_a.py": resource("a")})
    install("alignsim-two", {"plugins": "acme_b"}, {"acme_b.py": resource("b")})
    registry = Registry(discover=True)
    assert list(registry.resources) == ["a", "b"]
    assert registry.resources.origin("a").plugin == "alignsim-one:plugins"


@pytest.mark.parametrize("name", ["acme", "alignsim-acme", "acme_off", " other , acme"])
def test_an_entry_point_can_be_disabled(install, monkeypatch, name):
    install("alignsim-acme", {"acme": "acme_off"}, {"acme_off.py": BROKEN})
    monkeypatch.setenv("ALIGNSIM_DISABLE_PLUGINS", name)
    registry = Registry(discover=True)
    with pytest.raises(UnknownName, match=r"plugin acme .alignsim-acme 0.1. is disabled by ALIGNSIM_DISABLE_PLUGINS"):
        _ = registry.resources["x"]
    assert [(r.provider.plugin, r.status) for r in registry.plugins if r.status != "unknown"] == [("acme", "disabled")]


@pytest.mark.parametrize(("name", "left"), [("acme_some.disks", ["tape"]), ("acme_some.disks.fast", ["slow", "tape"])])
def test_a_module_or_a_folder_of_a_package_can_be_disabled(install, monkeypatch, name, left):
    package = {
        "acme_some/__init__.py": "from alignsim import scan\nmodules = scan(__name__)\n",
        "acme_some/tape.py": resource("tape"),
        "acme_some/disks/__init__.py": "",
        "acme_some/disks/fast.py": resource("fast"),
        "acme_some/disks/slow.py": resource("slow"),
    }
    install("alignsim-acme", {"acme": "acme_some:modules"}, package)
    monkeypatch.setenv("ALIGNSIM_DISABLE_PLUGINS", name)
    registry = Registry(discover=True)
    assert list(registry.resources) == left
    assert "acme_some.disks.fast" not in sys.modules
    assert not [report for report in registry.plugins if report.status == "unknown"]


def test_a_name_to_disable_that_no_plugin_has_is_reported(install, monkeypatch):
    install("alignsim-acme", {"acme": "acme_on"}, {"acme_on.py": resource("tape")})
    monkeypatch.setenv("ALIGNSIM_DISABLE_PLUGINS", "acmee")
    registry = Registry(discover=True)
    assert list(registry.resources) == ["tape"]
    (unknown,) = [report for report in registry.plugins if report.status == "unknown"]
    assert unknown.problems[0].startswith("no plugin 'acmee'; did you mean acme")


def test_what_is_handed_over_and_installed_too_is_taken_once(install):
    install("alignsim-acme", {"acme": "acme_twice"}, {"acme_twice.py": resource("tape")})
    registry = Registry(discover=True).with_plugins(import_module("acme_twice"))
    assert list(registry.resources) == ["tape"]
    assert not registry.resources.clashes


def test_a_package_can_be_handed_over(install):
    files = {"acme_given/__init__.py": "", "acme_given/a.py": resource("a"), "acme_given/b.py": resource("b")}
    install("alignsim-acme", {}, files)
    assert list(Registry([scan("acme_given")]).resources) == ["a", "b"]


FILE_PLUGIN = """
from alignsim import hookimpl, term

@term("byte", per={"role"})
def buffer(layers):
    return layers

@hookimpl
def alignsim_terms(algorithm):
    yield buffer
"""


def test_a_file_is_a_plugin(tmp_path):
    file = tmp_path / "my plugin.py"
    file.write_text(FILE_PLUGIN)
    module = load_file(file)
    assert load_file(str(file)) is module
    registry = Registry().with_plugins(module)
    (buffer,) = registry.terms(Algorithm(name="a", phases={"update": {"policy": "train"}}))
    assert pickle.loads(pickle.dumps(buffer)) is buffer
    assert str(file) in repr(registry)
    again = pickle.loads(pickle.dumps(registry))
    assert again.terms(Algorithm(name="a", phases={"update": {"policy": "train"}})) == (buffer,)


def test_a_file_that_was_changed_is_another_module(tmp_path):
    file = tmp_path / "tape.py"
    file.write_text(resource("tape"))
    before = load_file(file)
    file.write_text(resource("disk"))
    assert load_file(file) is not before
    assert list(Registry([load_file(file)]).resources) == ["disk"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("\n\n1 / 0\n", "bad.py:3: ZeroDivisionError: division by zero"),
        ("x = (\n", "bad.py:1: SyntaxError"),
        ("def f():\n    raise ValueError('no')\nf()\n", "bad.py:2: ValueError: no"),
    ],
)
def test_a_file_that_does_not_run_names_the_line(tmp_path, source, message):
    file = tmp_path / "bad.py"
    file.write_text(source)
    with pytest.raises(PluginError) as error:
        load_file(file)
    assert message in str(error.value)


def test_a_file_that_is_none(tmp_path):
    with pytest.raises(PluginError, match="No such file"):
        load_file(tmp_path / "absent.py")
    (tmp_path / "plugin.yaml").write_text("")
    with pytest.raises(PluginError, match="is not a Python file"):
        load_file(tmp_path / "plugin.yaml")
