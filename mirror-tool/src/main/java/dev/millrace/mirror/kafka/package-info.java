/**
 * Internal: the one package of the mirror that names Kafka's internal classes, in Millrace's private copy {@code
 * dev.millrace.kafka}. What leaves are types of the mirror's own and of Kafka's public API.
 */
package dev.millrace.mirror.kafka;
