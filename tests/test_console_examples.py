import pytest

from console_examples import commands, matches


def test_commands_are_split_from_their_output() -> None:
    block = "$ pip install alignsim\n$ alignsim run \\\n    --gpus 8\n2 lines\nof output\n\n$ echo $?\n0\n"
    assert list(commands(block)) == [
        ("pip install alignsim", ""),
        ("alignsim run --gpus 8", "2 lines\nof output"),
        ("echo $?", "0"),
    ]


@pytest.mark.parametrize(
    ("expected", "printed"),
    [
        ("fits", "fits\n"),
        ("peak ... GiB", "peak 71.5 GiB   \n"),
        ("first\n...\nlast", "first\nlast\n"),
        ("first\n...\nlast", "first\n2\n3\nlast\n"),
        ("first\n\nlast", "first\n\nlast\n\n"),
    ],
)
def test_output_that_matches(expected: str, printed: str) -> None:
    assert matches(expected, printed)


@pytest.mark.parametrize(
    ("expected", "printed"),
    [
        ("fits", "does not fit\n"),
        ("fits", "fits\nand more\n"),
        ("peak ... GiB", "peak 71.5\nGiB\n"),
        ("a.c", "abc\n"),
        ("first\n...\nlast", "first\n2\n"),
    ],
)
def test_output_that_does_not_match(expected: str, printed: str) -> None:
    assert not matches(expected, printed)
