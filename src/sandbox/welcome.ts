import { FIRST_SYNTHETIC_DATE } from './day-book.ts';

/** The answer to `GET /`, for a person who opens the sandbox in a browser. */
export const welcomeText = `This is the sandbox of erp-conciliation-sync: a local stand-in for the anticipation platform.
Every company, person, tax identifier and amount in it is made up, from a seed.

A token
  curl -X POST http://HOST:PORT/_sandbox/tokens
  Send it with each request: -H "Authorization: Bearer TOKEN"

The platform's operations
  GET  /api/anticipations/conciliation?conciliationDate=YYYY-MM-DD   titles accepted on that date
  GET  /api/anticipations/conciliation?anticipationDate=YYYY-MM-DD   titles accepted since that date
  POST /api/providers                                                {"providers":[...]}, at most 100

  Titles exist from ${FIRST_SYNTHETIC_DATE} to today in America/Sao_Paulo. Today has half of its titles. As a day
  ages its titles change order, from two days on about one in a hundred has another discount, and
  from four days on about one in a hundred is withdrawn.

Behaviour that the platform's documentation leaves open
  both dates or neither             400
  provider fields that are required externalId, identificationNumber and name
  a batch with a bad provider       400 and nothing applied; {"onInvalid":"apply-valid"} applies the rest
  the body of a 200                 {}; {"answer":"summary"} or {"answer":"statuses"} return more

Faults and fixtures, from this machine only
  PUT    /_sandbox/faults           one fault or an array, used by the next requests in that order
  DELETE /_sandbox/faults           removes all faults; GET shows the unused ones
  PUT    /_sandbox/days/DATE        application/json {"titleCount":1000}, or application/x-ndjson:
                                    one title a line, sent unchanged
  PUT    /_sandbox/days/DATE/body   the complete answer for that date, byte for byte
  DELETE /_sandbox/days/DATE        synthetic again
  PUT    /_sandbox/providers        {"onInvalid":"...","answer":"..."}; GET shows what was registered
  GET    /_sandbox/requests         the latest requests

  {"kind":"status","status":503,"headers":{"retry-after":"5"},"times":3}
  {"kind":"redirect","to":"https://example.com/"}
  {"kind":"body","body":"<html>","contentType":"text/html"}
  {"kind":"content-type","contentType":"text/html"}
  {"kind":"latency","latencyMs":5000}
  {"kind":"stall","afterBytes":1000}
  {"kind":"cut","afterBytes":1000,"how":"reset"}              how: reset, end; framing: chunked, length
  {"kind":"drip","bytes":10,"everyMs":100}
  {"kind":"gzip","cutAfterBytes":500}                         complete without cutAfterBytes
  {"kind":"close-delimited","cutAfterBytes":500}              complete without cutAfterBytes
  {"kind":"double","date":"2026-03-02"}                       other titles than the date has; also lost-buyer,
                                                            divided-by-100, restated-due-date, changed-account
  Each also takes "times" (a number, or "forever"), "date" and "operation" (conciliation, providers).
`;
