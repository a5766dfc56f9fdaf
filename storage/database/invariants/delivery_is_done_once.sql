SELECT 'delivery ' || delivery FROM request GROUP BY delivery HAVING count(*) > 1;
