"""Write a table, and read it again."""

import tempfile
from pathlib import Path

from excam.core import tables


def there_and_back(frame, read):
    """What `read` makes of a Parquet file of this frame."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.parquet")
        tables.write_frame(path, frame)
        return read(path)
