"""The built-in hardware, one data file a device in its vendor's folder: numbers with their sources, no formula."""

from alignsim.registry import scan

modules = scan(__name__)
