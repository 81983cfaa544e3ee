/**
 * The I/O thread's side: which batch goes to which broker and when, what an answer means for it, and when to ask the
 * cluster for metadata. All classes here are confined to the I/O thread unless their Javadoc says otherwise.
 *
 * <p><b>Internal, not API.</b>
 */
package dev.millrace.client.io;
