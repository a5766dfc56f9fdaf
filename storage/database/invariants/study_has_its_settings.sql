-- A comparison of purpose study has its two settings, and no other comparison has settings.
SELECT 'comparison ' || comparison.id || ', ' || purpose
FROM comparison LEFT JOIN study ON study.comparison_id = comparison.id
WHERE (purpose = 'study') <> (study.comparison_id IS NOT NULL);
