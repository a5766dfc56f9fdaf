-- Browsers that are signed in on the pages. Of a cookie only what its random id hashes to is known,
-- and of the token that it was given for its own hash: whose it is and what it allows is looked up
-- each time.
CREATE TABLE sign_in (
  sha256       TEXT NOT NULL PRIMARY KEY CHECK (length(sha256) = 64),
  token_sha256 TEXT NOT NULL CHECK (length(token_sha256) = 64),
  made_at      INTEGER NOT NULL,
  -- At most 12 hours later.
  ends_at      INTEGER NOT NULL CHECK (ends_at > made_at AND ends_at <= made_at + 43200000)
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_in_by_token ON sign_in (token_sha256, made_at);
CREATE TRIGGER sign_in_ends_with_its_token AFTER UPDATE OF revoked_at ON token
WHEN NEW.revoked_at IS NOT NULL BEGIN
  DELETE FROM sign_in WHERE token_sha256 = NEW.sha256;
END;
