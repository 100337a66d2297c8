-- One row per warehouse whose outbox was imported, with the greatest number imported: the table gets the name of what it
-- holds.
ALTER TABLE taken RENAME TO outbox_offsets;
