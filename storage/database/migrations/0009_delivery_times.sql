-- When a message reached the tracker; unknown for those that were sent before.
ALTER TABLE outbox ADD COLUMN sent_at INTEGER;
CREATE INDEX outbox_by_sent_at ON outbox (sent_at) WHERE sent_at IS NOT NULL;
