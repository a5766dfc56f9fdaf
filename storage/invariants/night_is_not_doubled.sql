-- One nightly verdict a pair of builds, for ever.
SELECT 'candidate ' || candidate_id || ', baseline ' || ifnull(baseline_id, 'none') || ': ' ||
       count(*) || ' nights'
FROM night WHERE kind = 'nightly'
GROUP BY candidate_id, baseline_id HAVING count(*) > 1;
