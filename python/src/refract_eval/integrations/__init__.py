"""Refract inside other libraries, one module each.

Modules import their library, and torch, only when used. The exceptions are evaluate, inspect_ai, lighteval and
mbrs, whose metrics derive from the library's classes.
"""
