"""Writes the files beside it, by pyarrow 26.0.1 and pandas 3: `pip install pyarrow pandas`, then `python3 make.py`.

Each holds the three rows that `tests.rs` has as text. They are kept as they were written: what the readers are held to
must not come from the libraries that the readers are made of.
"""

import pandas
import pyarrow
import pyarrow.feather
import pyarrow.parquet

PARAMETERS = "merino-rows 1\nsingle tempo 10\npair p[0] 80 100.5\nphase 0 1 1 2 4\nrows\n"
ROWS = {
    "result": [0.5, 1.0, 0.0],
    "constant": [0.0, -31.5, 0.0],
    "pawns": [16, 8, 0],
    "knights": [4, 0, 0],
    "bishops": [4, 1, 0],
    "rooks": [4, 2, 0],
    "queens": [2, 0, 0],
    "group": [17, 18, 18],
    "index": [[0, 1], [1], []],
    "count": [[1, -2], [3], []],
}


def with_parameters(table):
    kept = table.schema.metadata or {}
    return table.replace_schema_metadata({**kept, "merino.parameters": PARAMETERS})


plain = with_parameters(pyarrow.table(ROWS))
pyarrow.parquet.write_table(plain, "plain.parquet")
pyarrow.parquet.write_table(
    plain, "modern.parquet", compression="zstd", version="2.6", data_page_version="2.0", use_dictionary=False
)
pyarrow.feather.write_feather(plain, "feather.arrow")
with pyarrow.ipc.new_stream("stream.arrows", plain.schema) as stream:
    stream.write_table(plain, max_chunksize=2)
pandas_table = pyarrow.Table.from_pandas(pandas.DataFrame(ROWS), preserve_index=False)
pyarrow.parquet.write_table(with_parameters(pandas_table), "pandas.parquet")
