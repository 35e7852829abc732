"""The plugin, and its provider of Processing algorithms."""

from processing.core.ProcessingConfig import ProcessingConfig, Setting
from qgis.core import QgsApplication, QgsProcessingProvider

from .algorithms import Curves, Patterns, Quotients, Summary
from .command import SETTING


class CollocateProvider(QgsProcessingProvider):
    """The algorithms, in a group of their own in the toolbox."""

    def id(self):
        return "collocate"

    def name(self):
        return "Collocate"

    def load(self):
        ProcessingConfig.addSetting(
            Setting(self.name(), SETTING, "Command (its path, if it is not on the search path)", "")
        )
        ProcessingConfig.readSettings()
        return super().load()

    def unload(self):
        ProcessingConfig.removeSetting(SETTING)
        super().unload()

    def loadAlgorithms(self):  # noqa: N802
        for algorithm in (Patterns, Curves, Quotients, Summary):
            self.addAlgorithm(algorithm())


class CollocatePlugin:
    """What QGIS loads."""

    def __init__(self):
        self.provider = None

    def initProcessing(self):  # noqa: N802
        self.provider = CollocateProvider()
        QgsApplication.processingRegistry().addProvider(self.provider)

    def initGui(self):  # noqa: N802
        self.initProcessing()

    def unload(self):
        if self.provider is not None:
            QgsApplication.processingRegistry().removeProvider(self.provider)
            self.provider = None
