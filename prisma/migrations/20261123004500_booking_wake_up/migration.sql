-- A wake-up for readers of booking_feed that wait with LISTEN conciliation_booking.

CREATE FUNCTION conciliation.announce_offers() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  PERFORM pg_notify('conciliation_booking', json_build_object('consumer', offered.consumer, 'seq', offered.seq)::text)
  FROM (
    SELECT line.consumer, max(added.seq) AS seq
    FROM added JOIN conciliation.booking_line AS line ON line.id = added.line_id
    GROUP BY line.consumer
  ) AS offered;
  RETURN NULL;
END
$$;

REVOKE ALL ON FUNCTION conciliation.announce_offers() FROM PUBLIC;

COMMENT ON FUNCTION conciliation.announce_offers() IS
  'Sends {"consumer", "seq"} to the channel conciliation_booking for each consumer with new offers. PostgreSQL delivers the message after the commit, to the sessions that listen at that time. A lost message loses no line: the reader goes on from its own position.';

CREATE TRIGGER booking_offer_announced
  AFTER INSERT ON conciliation.booking_offer
  REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.announce_offers();
