-- A table of passages with an index of their words. The title counts most, then the headings.
CREATE TABLE :"table" (
    id text PRIMARY KEY,
    document jsonb NOT NULL,
    words tsvector NOT NULL GENERATED ALWAYS AS (
        setweight(to_tsvector('english', document ->> 'title'), 'A')
        || setweight(to_tsvector('english', document -> 'heading_path'), 'B')
        || to_tsvector('english', document ->> 'text')
    ) STORED
);
CREATE INDEX ON :"table" USING gin (words);
