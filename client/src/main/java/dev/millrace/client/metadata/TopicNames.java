package dev.millrace.client.metadata;

import java.util.List;

/** The names of the topics that a producer knew, and the id of their cluster. */
record TopicNames(String clusterId, List<String> names) {}
