-- A pair of builds has one nightly comparison, for ever.
SELECT 'candidate ' || candidate_id || ', baseline ' || ifnull(baseline_id, 'none') || ': ' ||
       count(*) || ' comparisons'
FROM comparison WHERE purpose = 'nightly'
GROUP BY candidate_id, baseline_id HAVING count(*) > 1;
