/**
 * Public API: what Millrace says about the outcome of a delivery beyond Kafka's own interfaces. Depends on no other
 * package of Millrace.
 */
package dev.millrace.client.delivery;
