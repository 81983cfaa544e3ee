/**
 * Judges what arrived in topics. {@link dev.millrace.testkit.oracle.DeliveryOracle} judges a producer by the {@link
 * dev.millrace.testkit.oracle.Stamp}s in its records; {@link dev.millrace.testkit.oracle.TopicDigest} judges a mirror
 * by comparing two topics; {@link dev.millrace.testkit.oracle.SendLedger} judges each record by all that was told of it, and
 * {@link dev.millrace.testkit.oracle.TransactionLedger} each transaction.
 *
 * <p><b>In:</b> the configuration of a consumer, or records that the caller has read. Nothing else of the test kit.
 *
 * <p><b>Out:</b> numbers of records that are lost, doubled, reordered or misrouted, with examples in words.
 */
package dev.millrace.testkit.oracle;
