/**
 * <b>Internal, not API.</b> The I/O threads decide which batch is sent to which broker and when, what an answer means
 * for it, and when to ask the cluster for metadata and producer ids. Enters: partitions from the ready queue, answers
 * from the {@code BrokerLink}. Leaves: requests to the {@code BrokerLink}, outcomes to callbacks and futures. Classes
 * are used by one I/O thread only, unless their Javadoc says otherwise.
 */
package dev.millrace.client.io;
