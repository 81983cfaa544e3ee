package dev.millrace.mirror.fetch;

import org.apache.kafka.common.Node;

/**
 * A fetch request.
 *
 * @param node the broker, under the id of the connection to use
 * @param maxWaitMs how long the broker may wait until it has {@code minBytes}
 * @param maxBytes limit of the response; the broker exceeds it if the first batch alone is larger
 * @param leadersOnly whether a leader may name no follower to read from instead
 */
public record FetchCall(Node node, FetchRound round, int maxWaitMs, int minBytes, int maxBytes, boolean leadersOnly) {}
