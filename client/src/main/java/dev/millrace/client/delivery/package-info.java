/** What Millrace tells of a delivery beyond Kafka's own interfaces. */
package dev.millrace.client.delivery;
