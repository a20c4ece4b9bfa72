-- Applies lines of `qipu export passages` from standard input to a table. No line contains control characters, so that these can be
-- the quote and the delimiter: each line is one value.
BEGIN;
CREATE TEMPORARY TABLE lines (line jsonb NOT NULL) ON COMMIT DROP;
\copy lines FROM pstdin WITH (FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02')
DELETE FROM :"table" WHERE id IN (SELECT line ->> '_id' FROM lines WHERE line ? 'deleted');
INSERT INTO :"table" (id, document)
SELECT line ->> '_id', line - '_id' FROM lines WHERE NOT line ? 'deleted'
ON CONFLICT (id) DO UPDATE SET document = excluded.document;
COMMIT;
