-- An attempt of an earlier writer still open beside one of a later: two writers at once, or a
-- start that did not sweep.
SELECT 'attempt ' || a.id || ' (writer ' || a.fence || ')'
FROM attempt a
WHERE a.state = 'issued' AND EXISTS (SELECT 1 FROM attempt b WHERE b.fence > a.fence);
