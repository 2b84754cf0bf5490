"""Refract inside other libraries, a module each.

None imports its library, or torch, before it is used, but for evaluate, inspect_ai,
lighteval and mbrs, whose metrics are made of what these define.
"""
