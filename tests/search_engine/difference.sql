-- Prints the passages in which two tables differ.
(TABLE passages EXCEPT TABLE fresh) UNION ALL (TABLE fresh EXCEPT TABLE passages);
