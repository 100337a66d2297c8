-- Addresses of pictures and pages with a user or a password were taken as others are, and published. Landing refuses them now,
-- and versions that are kept have none.
UPDATE offer_versions SET image_name = '', image_source = ''
WHERE regexp_matches(image_source, '^[a-z+-]+:[/\\]*[^/\\?#]*@', 'i');
UPDATE offer_versions SET preview_url = NULL
WHERE regexp_matches(preview_url, '^[a-z+-]+:[/\\]*[^/\\?#]*@', 'i');
