"""Refract inside other libraries, a module each.

None imports its library, or torch, before it is used, but for mbrs, whose metrics are
subclasses of a class of its own.
"""
