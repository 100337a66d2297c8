-- Reasons for rejected rows of one file: of the first 1,000, which rejects has.
-- grain: one row per reason
-- key: reason
-- nullable: none
SELECT reason, count(*) AS rows, min(line) AS first_line, max(line) AS last_line
FROM rejects
WHERE file_id::VARCHAR = $file
GROUP BY reason
ORDER BY count(*) DESC, reason
