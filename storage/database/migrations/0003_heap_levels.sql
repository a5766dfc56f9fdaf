-- Beside the live bytes of LibTorch's allocator a run keeps what else its heap held. SQLite changes
-- no CHECK of a table: it is made again.
CREATE TABLE sample_of_every_kind (
  attempt_id INTEGER NOT NULL REFERENCES result (attempt_id),
  kind       TEXT NOT NULL CHECK (kind IN ('wall_ns', 'device_ns', 'live_bytes', 'heap_bytes')),
  data       BLOB NOT NULL CHECK (length(data) % 8 = 0),
  digest     TEXT NOT NULL CHECK (length(digest) = 64),
  UNIQUE (attempt_id, kind)
) STRICT;
INSERT INTO sample_of_every_kind SELECT attempt_id, kind, data, digest FROM sample;
DROP TABLE sample;
ALTER TABLE sample_of_every_kind RENAME TO sample;
