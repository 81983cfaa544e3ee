/**
 * Internal: fetches whole record batches from the source, for any number of partitions, with one thread. Nothing of a
 * batch but its header is read here. Enters: what to fetch, from where on. Leaves: bytes of one partition, in order, by
 * {@link dev.millrace.mirror.fetch.FetchSink}. It knows the network only as {@link
 * dev.millrace.mirror.fetch.FetchLink}.
 */
package dev.millrace.mirror.fetch;
