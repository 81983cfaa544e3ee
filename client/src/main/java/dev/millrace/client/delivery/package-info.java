/**
 * Public API: what Millrace reports about the outcome of a delivery beyond Kafka's own interfaces. Enters: the
 * application's callbacks. Leaves: the certainty of each outcome. Depends on no other package of Millrace.
 */
package dev.millrace.client.delivery;
