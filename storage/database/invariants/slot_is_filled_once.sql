-- Two results of one slot would count one run of the plan twice.
SELECT 'slot ' || slot || ' of ' || ifnull('comparison ' || comparison_id, 'bisection ' || bisection_id)
FROM attempt WHERE state = 'done'
GROUP BY comparison_id, bisection_id, slot HAVING count(*) > 1;
