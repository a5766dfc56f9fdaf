-- Not every incident has an issue of its own: what did not reproduce has none, unless asked for, and
-- what is beyond a night's cap stands in one umbrella issue. Empty: it has one, or will have.
ALTER TABLE incident ADD COLUMN unfiled TEXT NOT NULL DEFAULT '';
