/**
 * How much text, in UTF-16 units, a writer gathers before it gives it out as bytes. Much longer texts are
 * large objects to V8, and bytes that lie in queues outlive its quick collections: both then wait for a
 * rare full one, and an export of a million rows would hold tens of megabytes of nothing.
 */
export const CHUNK_LENGTH = 32_768;
