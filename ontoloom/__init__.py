"""The words that all of ontoloom's packages share: records, protocols, errors, progress, plug-ins."""

from pathlib import Path

from ontoloom.siblings import check_siblings

check_siblings(Path(__file__).parent.parent)
