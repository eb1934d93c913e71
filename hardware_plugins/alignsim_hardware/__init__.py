"""The built-in hardware, one module a vendor: data with provenance, and no formula."""

from alignsim.registry import scan

modules = scan(__name__)
