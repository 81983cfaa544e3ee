/**
 * <em>Internal.</em> Which topics are paused and throttled, changed while the mirror runs. Enters: what an operator wants,
 * by patterns of topics. Leaves: for each topic a {@link dev.millrace.mirror.control.TopicGate}, which those that copy
 * ask. It knows neither Kafka nor how records are copied.
 */
package dev.millrace.mirror.control;
