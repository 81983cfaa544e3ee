/**
 * <b>Internal, not API.</b> Fetches whole record batches from the source, for any number of partitions, with one
 * thread. It reads only the headers of batches. Enters: partitions to fetch and their start offsets. Leaves: the bytes
 * of each partition, in order, through {@link dev.millrace.mirror.fetch.FetchSink}. It knows the network only as {@link
 * dev.millrace.mirror.fetch.FetchLink}.
 */
package dev.millrace.mirror.fetch;
