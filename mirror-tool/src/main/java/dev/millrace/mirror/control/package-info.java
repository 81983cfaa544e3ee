/**
 * <b>Internal, not API.</b> What an operator or a failure changes while the mirror runs: whether it runs at all, and
 * which topics are paused and throttled. Enters: what an operator wants, by patterns of topics, and failures. Leaves:
 * for each topic a {@link dev.millrace.mirror.control.TopicGate}, which the copying threads ask, and {@link
 * dev.millrace.mirror.control.Lifecycle}. It knows neither Kafka nor how records are copied.
 */
package dev.millrace.mirror.control;
