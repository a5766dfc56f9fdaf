-- How many results and steps of searches there were when the work began, by their highest numbers:
-- work that made more of them before the process died got further, and nothing is wrong with it.
ALTER TABLE work_under_way ADD COLUMN steps INTEGER NOT NULL DEFAULT 0 CHECK (steps >= 0);
