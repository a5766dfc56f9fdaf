-- Bearer tokens of the HTTP API. Only what a token hashes to is known.
CREATE TABLE token (
  id         INTEGER PRIMARY KEY,
  name       TEXT NOT NULL CHECK (name <> ''),
  sha256     TEXT NOT NULL UNIQUE CHECK (length(sha256) = 64),
  -- "read,triage": what it allows.
  scopes     TEXT NOT NULL CHECK (scopes <> ''),
  made_at    INTEGER NOT NULL,
  -- About when it was used last; none: never.
  used_at    INTEGER,
  revoked_at INTEGER
) STRICT;
-- A name is free again once its token is revoked.
CREATE UNIQUE INDEX token_name ON token (name) WHERE revoked_at IS NULL;
