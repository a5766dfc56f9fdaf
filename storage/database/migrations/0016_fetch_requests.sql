-- A build may be asked for, not only work with builds; SQLite changes no CHECK of a table: it is made
-- again, and with it what was said about it.
CREATE TABLE request_of_any_kind (
  id          INTEGER PRIMARY KEY,
  delivery    TEXT NOT NULL UNIQUE CHECK (delivery <> ''),
  kind        TEXT NOT NULL CHECK (kind IN ('nightly', 'bisection', 'fetch')),
  state       TEXT NOT NULL CHECK (state IN ('pending', 'running', 'done', 'refused', 'failed',
                                             'cancelled')),
  body_json   TEXT NOT NULL,
  result_json TEXT NOT NULL DEFAULT '',
  -- The user on this machine who asked over the control socket; none for one over TCP.
  asked_by    INTEGER,
  created_at  INTEGER NOT NULL,
  -- The name of the bearer token that it came with; empty for one over the control socket.
  token       TEXT NOT NULL DEFAULT ''
) STRICT;
INSERT INTO request_of_any_kind
SELECT id, delivery, kind, state, body_json, result_json, asked_by, created_at, token FROM request;
DROP TABLE request;
ALTER TABLE request_of_any_kind RENAME TO request;
CREATE INDEX request_pending ON request (id) WHERE state = 'pending';
CREATE INDEX request_running ON request (id) WHERE state = 'running';
CREATE TRIGGER event_of_new_request AFTER INSERT ON request BEGIN
  INSERT INTO event (kind, item, state) VALUES ('request', NEW.id, NEW.state);
END;
CREATE TRIGGER event_of_request AFTER UPDATE OF state ON request
WHEN NEW.state <> OLD.state BEGIN
  INSERT INTO event (kind, item, state) VALUES ('request', NEW.id, NEW.state);
END;
