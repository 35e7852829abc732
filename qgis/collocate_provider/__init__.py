"""A QGIS plugin with Processing algorithms that call the collocate command."""


def classFactory(iface):  # noqa: N802: the name is QGIS's
    from .provider import CollocatePlugin

    return CollocatePlugin()
