"""The interactive chooser and the map of methods."""


def setup(app):
    return {"parallel_read_safe": True}
