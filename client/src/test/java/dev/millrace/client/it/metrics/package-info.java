/**
 * Integration tests of metrics and telemetry.
 */
package dev.millrace.client.it.metrics;
