-- Names that say what is there: how far each warehouse's outbox was imported, and what sorts the postbacks of a click.
ALTER TABLE taken RENAME TO outbox_offsets;
ALTER TABLE postbacks RENAME COLUMN turn TO sort_key;
