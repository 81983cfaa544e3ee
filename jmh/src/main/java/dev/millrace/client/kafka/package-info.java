/** What must stand beside our bridge to Kafka's classes to reach it: the link to a network that does nothing. */
package dev.millrace.client.kafka;
