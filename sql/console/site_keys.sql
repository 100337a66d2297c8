-- Keys of the sites of sites.json, for a choice.
-- grain: one row per site of sites.json
-- key: site_key
-- nullable: none
SELECT site_key
FROM sites
ORDER BY site_key
