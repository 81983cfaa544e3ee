/**
 * What the producer knows of the cluster: an immutable image behind one volatile reference, the set of topics in use, and
 * the threads that wait for the next image.
 */
package dev.millrace.client.metadata;
