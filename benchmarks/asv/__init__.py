"""The hot paths, for asv. ``asv continuous --factor 1.5 --interleave-rounds HEAD^ HEAD`` compares with the parent.

The modules use only the public interface, so that they run with both commits.
"""
