/**
 * <b>Internal, not API.</b> The one package of the mirror that names Kafka's internal classes, in Millrace's private
 * copy {@code dev.millrace.kafka}. Enters: the mirror's own requests and settings. Leaves: the mirror's own types and
 * types of Kafka's public API.
 */
package dev.millrace.mirror.kafka;
