-- For the readers of booking_feed and title_feed: a wake-up for sessions that wait with LISTEN conciliation_booking,
-- and reads that refuse a position that this database did not give.

CREATE FUNCTION conciliation.announce_offers() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  -- The position is text, because many readers of JSON round numbers beyond 2^53. The name of a consumer needs no escape.
  PERFORM pg_notify('conciliation_booking', format('{"consumer":"%s","seq":"%s"}', offered.consumer, offered.seq))
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
  'Sends {"consumer":"erp","seq":"118"} to the channel conciliation_booking for each consumer with new offers. PostgreSQL delivers the message after the commit, to the sessions that listen at that time. A lost message loses no line: the reader goes on from its own position.';

CREATE TRIGGER booking_offer_announced
  AFTER INSERT ON conciliation.booking_offer
  REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.announce_offers();


-- Positions ------------------------------------------------------------------------------------

-- A position is 0 or the number of a row that exists. The rows of a feed are never deleted, and after a restore the
-- numbers go on above every number that was given. So a position that a restore has lost names no row.
CREATE FUNCTION conciliation.safe_position(feed text, place bigint) RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  safe bigint;
BEGIN
  IF feed = 'booking_feed' THEN
    SELECT max(seq) INTO safe FROM conciliation.booking_offer WHERE seq <= place;
    IF place > (SELECT last_value FROM conciliation.booking_offer_seq_seq) THEN safe := 0; END IF;
  ELSE
    SELECT max(change_seq) INTO safe FROM conciliation.title_change WHERE change_seq <= place;
    IF place > (SELECT last_value FROM conciliation.title_change_change_seq_seq) THEN safe := 0; END IF;
  END IF;
  RETURN coalesce(safe, 0);
END
$$;

COMMENT ON FUNCTION conciliation.safe_position(text, bigint) IS
  'The position from which a reader of booking_feed or title_feed misses no row: the given position where this database gave it. A smaller one where a restore has lost the position. 0 where no number was ever so great, so that the numbers may have been given again.';

CREATE FUNCTION conciliation.require_position(feed text, place bigint) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  safe bigint := conciliation.safe_position(feed, place);
BEGIN
  IF safe IS DISTINCT FROM place THEN
    RAISE EXCEPTION 'position: % does not have the position %; the database was restored, so read again from %',
      feed, place, safe
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'Set the position of the reader to the named one, and send all receipts again. See "After a restore" in docs/bookings.md.';
  END IF;
END
$$;

COMMENT ON FUNCTION conciliation.require_position(text, bigint) IS
  'Raises an error that names the safe position where safe_position differs from the given one.';

CREATE FUNCTION conciliation.booking_feed_after(place bigint, max_lines integer)
RETURNS SETOF conciliation.booking_feed
LANGUAGE plpgsql STABLE ROWS 1000 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM conciliation.require_position('booking_feed', place);
  RETURN QUERY SELECT * FROM conciliation.booking_feed AS feed
    WHERE feed.seq > place ORDER BY feed.seq LIMIT max_lines;
END
$$;

COMMENT ON FUNCTION conciliation.booking_feed_after(bigint, integer) IS
  'The next rows of booking_feed after a position, in their order. The position is the greatest seq that the reader has processed, 0 at first. Raises an error for a position that a restore of the database has lost.';

CREATE FUNCTION conciliation.title_feed_after(place bigint, max_rows integer)
RETURNS SETOF conciliation.title_feed
LANGUAGE plpgsql STABLE ROWS 1000 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM conciliation.require_position('title_feed', place);
  RETURN QUERY SELECT * FROM conciliation.title_feed AS feed
    WHERE feed.change_seq > place ORDER BY feed.change_seq LIMIT max_rows;
END
$$;

COMMENT ON FUNCTION conciliation.title_feed_after(bigint, integer) IS
  'The next rows of title_feed after a position, in their order. The position is the greatest change_seq that the reader has processed, 0 at first. Raises an error for a position that a restore of the database has lost.';

-- The next number is the number of microseconds since 2026. No installation gives a number each microsecond, so it is
-- above every number that was given before, also above those that the restore has lost. Below 2^53 until the year 2311.
CREATE FUNCTION conciliation.skip_numbers() RETURNS bigint
-- With the rights of the owner: the service may move the numbers forward, and not back.
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  start bigint;
BEGIN
  SELECT greatest(floor(extract(epoch FROM clock_timestamp() - timestamptz '2026-01-01 00:00:00+00') * 1000000)::bigint,
                  offer.last_value + 1, change.last_value + 1, title.last_value + 1) INTO start
  FROM conciliation.booking_offer_seq_seq AS offer, conciliation.title_change_change_seq_seq AS change,
       conciliation.title_id_seq AS title;
  PERFORM setval('conciliation.booking_offer_seq_seq', start, false),
          setval('conciliation.title_change_change_seq_seq', start, false),
          setval('conciliation.title_id_seq', start, false);
  RETURN start;
END
$$;

COMMENT ON FUNCTION conciliation.skip_numbers() IS
  'Makes booking_offer.seq, title_change.change_seq and title.id go on above every number that was ever given, after a restore. Returns the next number.';

REVOKE ALL ON FUNCTION conciliation.safe_position(text, bigint), conciliation.require_position(text, bigint),
  conciliation.booking_feed_after(bigint, integer), conciliation.title_feed_after(bigint, integer),
  conciliation.skip_numbers() FROM PUBLIC;
