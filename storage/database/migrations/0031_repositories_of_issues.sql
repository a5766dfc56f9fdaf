-- In which repository an issue or a reply stands: its number means nothing without. Empty: that was
-- not noted, and is the repository that is configured when the program begins to deliver.
ALTER TABLE outbox ADD COLUMN repository TEXT NOT NULL DEFAULT '' COLLATE NOCASE;
-- The event of the change that a decision made, by which each is told once. Older ones have none.
ALTER TABLE decision ADD COLUMN event INTEGER NOT NULL DEFAULT 0;
