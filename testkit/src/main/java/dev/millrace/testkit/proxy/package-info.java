/**
 * A TCP proxy that breaks connections: {@link dev.millrace.testkit.proxy.FaultProxy}.
 *
 * <p><b>In:</b> bytes of Kafka's protocol without TLS. It reads only their sizes, API keys and correlation ids.
 *
 * <p><b>Out:</b> the same bytes, or fewer, or none.
 */
package dev.millrace.testkit.proxy;
