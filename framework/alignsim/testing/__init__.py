"""What a plugin should pass, as pytest classes to subclass, and registries for tests. It needs pytest."""

from alignsim.testing.accelerators import AcceleratorTests
from alignsim.testing.registries import offering, registry_of

__all__ = ["AcceleratorTests", "offering", "registry_of"]
