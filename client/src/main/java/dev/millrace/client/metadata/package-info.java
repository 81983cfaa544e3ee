/**
 * What the producer knows about the cluster: an immutable image behind one volatile reference, the topics in use, the
 * threads that wait for the next image, the brokers that stall, and a file with the names of topics for the next run.
 * Enters: deltas made from metadata responses, leader hints and errors. Leaves: images. Nothing here sends a request.
 *
 * <p><b>Internal, not API.</b>
 */
package dev.millrace.client.metadata;
