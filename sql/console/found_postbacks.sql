-- The postback of that id.
-- grain: one row at most
-- key: webhook_id
-- inputs: postbacks
SELECT webhook_id, click_id, state FROM postbacks WHERE webhook_id = $id::VARCHAR ORDER BY webhook_id LIMIT 1
