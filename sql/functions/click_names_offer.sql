-- The condition of a join from clicks to offer_keys: the offer that a click names. All three columns are compared by
-- equality, so that the join is one by hash.
-- parameters: click, offer
offer.named_id = coalesce(click.offer_id, 0)
AND offer.source = name_part(click.offer_id, click.source)
AND offer.external_id = name_part(click.offer_id, click.external_id)
