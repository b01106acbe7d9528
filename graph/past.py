"""Edges of the record that are gone, as stores keep them: JSON lists of the columns in ``graph.store``."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pyarrow as pa


def past_batch(rows: Sequence[str], schema: pa.Schema) -> pa.RecordBatch:
    """Rows of the table ``_Past`` as NAMING_COLUMNS or STATING_COLUMNS."""
    columns = zip(*map(json.loads, rows), strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
