-- An attempt of an earlier writer is open although a later writer has issued one: two processes
-- wrote at once, or the later one did not abandon the leftovers.
SELECT 'attempt ' || a.id || ' (writer ' || a.fence || ')'
FROM attempt a
WHERE a.state = 'issued' AND EXISTS (SELECT 1 FROM attempt b WHERE b.fence > a.fence);
