"""Objects by name, who offered each, and help where a name is unknown or means two things."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar, overload

import attrs

from alignsim.errors import AlignSimError, DuplicateName, Origin, UnknownName

T = TypeVar("T")
D = TypeVar("D")

DISABLE = "ALIGNSIM_DISABLE_PLUGINS"


@attrs.frozen(order=True)
class Provider:
    """Who offers something: a plugin, and the distribution it was installed with.

    Attributes:
        plugin: the plugin's name.
        distribution: the distribution's name, or how else the plugin came in (``given in code``).
        version: the distribution's version, empty where there is none.
        discovered: whether it was found by itself, and so can be disabled by name.
    """

    plugin: str
    distribution: str = "given in code"
    version: str = ""
    discovered: bool = False

    def __str__(self) -> str:
        return f"{self.plugin} ({f'{self.distribution} {self.version}'.strip()})"


@attrs.frozen
class Failure:
    """What went wrong with a plugin, kept so that it can be told where it matters.

    Attributes:
        provider: whose plugin it is.
        error: what was raised.
        hook: the hook that was asked; None when the plugin could not be loaded at all.
    """

    provider: Provider
    error: BaseException
    hook: str | None = None

    def __str__(self) -> str:
        did = "failed to load" if self.hook is None else f"failed in {self.hook}"
        where = self.origin
        place = f" ({where})" if where and where.file not in str(self.error) else ""
        return f"plugin {self.provider} {did}: {described(self.error)}{place}"

    @property
    def origin(self) -> Origin | None:
        """The line of the plugin that raised, if one did."""
        return raised_at(self.error)

    def concerns(self, hook: str) -> bool:
        """Whether the plugin might have answered that hook if this had not happened."""
        return self.hook in (None, hook)


def described(error: BaseException) -> str:
    """Return an error as one reads it: its type is named unless it is one of ours."""
    return str(error) if isinstance(error, AlignSimError) else f"{type(error).__name__}: {error}".rstrip(": ")


def raised_at(error: BaseException) -> Origin | None:
    """Return the deepest line of the plugin's own folder in the traceback of an error."""
    if isinstance(error, SyntaxError) and error.filename:
        return Origin(error.filename, error.lineno)
    lines: list[Origin] = []
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        owner = str(trace.tb_frame.f_globals.get("__name__", "")).partition(".")[0]
        if not file.startswith("<") and owner not in ("alignsim", "pluggy", "importlib"):
            lines.append(Origin(file, trace.tb_lineno))
        trace = trace.tb_next
    if not lines:
        return None
    folder = os.path.dirname(lines[0].file)
    return next(line for line in reversed(lines) if line.file.startswith(folder))


@attrs.frozen(eq=False)
class Offer(Generic[T]):
    """One object, the names it answers to, and its provider."""

    name: str
    item: T
    provider: Provider
    aliases: tuple[str, ...] = ()

    def called(self, spelling: str) -> str:
        """Return who offers it, and for an alias of what."""
        return f"{self.provider}" + (f" as another name of {self.name!r}" if spelling != self.name else "")


class Catalogue(Mapping[str, T]):
    """The objects of one kind by name, in the order of their names.

    A look-up takes a name or an alias, then whatever differs from one of them only in case. It raises
    :class:`UnknownName` with suggestions, and :class:`DuplicateName` for a name that two plugins offer: such names are
    in :attr:`clashes` and not in the listing, so that all the others can still be used.
    """

    def __init__(self, kind: str, offers: Iterable[Offer[T]], note: str = "") -> None:
        self.kind, self.note = kind, note
        spellings: dict[str, list[Offer[T]]] = {}
        folded: dict[str, list[Offer[T]]] = {}
        for offer in sorted(offers, key=lambda o: (o.name, o.provider)):
            for spelling in dict.fromkeys((offer.name, *offer.aliases)):
                spellings.setdefault(spelling, []).append(offer)
                alike = folded.setdefault(spelling.casefold(), [])
                if offer not in alike:
                    alike.append(offer)
        self._spellings, self._folded = spellings, folded
        self._names = tuple(n for n, found in sorted(spellings.items()) if len(found) == 1 and found[0].name == n)

    @property
    def clashes(self) -> Mapping[str, DuplicateName]:
        """The names that mean two things, each with the error that a look-up raises."""
        return {s: self._clash(s, found) for s, found in sorted(self._spellings.items()) if len(found) > 1}

    def _clash(self, spelling: str, offers: list[Offer[T]]) -> DuplicateName:
        who = " and by ".join(offer.called(spelling) for offer in offers)
        plugins = sorted({offer.provider.plugin for offer in offers})
        discovered = sorted({offer.provider.plugin for offer in offers if offer.provider.discovered})
        if len(plugins) == 1:
            way = "rename one of them"
        elif discovered:
            way = "disable one: " + " or ".join(f"{DISABLE}={plugin}" for plugin in discovered)
        else:
            way = "leave one of them out"
        return DuplicateName(f"{self.kind} {spelling!r} is offered by {who}; {way}")

    def offer(self, name: str) -> Offer[T]:
        """Return the object together with its names and its provider.

        Raises:
            UnknownName: nothing has that name; suggestions, and the plugins that might have offered it, are listed.
            DuplicateName: more than one object has it.
        """
        found = self._spellings.get(name)
        if found is None:
            found = self._folded.get(str(name).casefold(), [])
            if len(found) != 1:
                raise UnknownName(self.kind, str(name), self._names, self.note)
        if len(found) > 1:
            raise self._clash(name, found)
        return found[0]

    def providers(self, spelling: str) -> tuple[Provider, ...]:
        """Return all who offer something under exactly that name or alias."""
        return tuple(sorted({offer.provider for offer in self._spellings.get(spelling, ())}))

    def origin(self, name: str) -> Provider:
        """Return who offers the object of that name; raises as a look-up does."""
        return self.offer(name).provider

    def __getitem__(self, name: str) -> T:
        return self.offer(name).item

    def __contains__(self, name: object) -> bool:
        try:
            self.offer(name)  # type: ignore[arg-type]
        except (UnknownName, DuplicateName, TypeError):
            return False
        return True

    @overload
    def get(self, name: str, /) -> T | None: ...
    @overload
    def get(self, name: str, /, default: T | D) -> T | D: ...
    def get(self, name: str, /, default: Any = None) -> Any:
        """Return the object, or ``default`` where nothing has that name; a clash raises all the same."""
        try:
            return self[name]
        except UnknownName:
            return default

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        more = f", ... ({len(self)} in all)" if len(self) > 8 else ""
        return f"<{self.kind}: {', '.join(self._names[:8]) or 'none'}{more}>"

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)
