-- Prints the best passages for words, one JSON object a line.
SELECT document
FROM passages, websearch_to_tsquery('english', :'words') AS query
WHERE words @@ query
ORDER BY ts_rank_cd(words, query) DESC, id
LIMIT 5;
