/**
 * Integration tests with faults of brokers, networks, topics and threads, and of records that expire.
 */
package dev.millrace.client.it.faults;
