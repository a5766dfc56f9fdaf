-- Since when a message fails that was not sent.
ALTER TABLE outbox ADD COLUMN failing_since INTEGER;
