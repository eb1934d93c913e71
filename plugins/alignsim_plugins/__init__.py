"""The built-in plugins for alignment runs: each module is one, and comes in by the same door as anybody else's."""

from alignsim.registry import scan

modules = scan(__name__)
