/**
 * A broker that acknowledges and stores nothing, to measure producers with: {@link
 * dev.millrace.testkit.stub.StubBroker}.
 *
 * <p><b>In:</b> {@code process}, the certificates of {@code cluster}, and kafka-clients' classes for rare requests.
 *
 * <p><b>Out:</b> addresses and client configurations.
 */
package dev.millrace.testkit.stub;
