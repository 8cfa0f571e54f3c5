/**
 * The length of a chunk of output in UTF-16 units. Much longer texts are large objects to V8, and
 * buffers in queues outlive its minor collections. Both then wait for a major collection, and an
 * export of a million rows would hold tens of megabytes of garbage.
 */
export const CHUNK_LENGTH = 32_768;
