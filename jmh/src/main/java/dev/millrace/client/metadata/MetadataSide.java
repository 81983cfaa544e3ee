package dev.millrace.client.metadata;

import dev.millrace.client.metadata.SampleCluster.Topic;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** One way to keep the metadata of a cluster, immutable for its readers. */
interface MetadataSide {
    /** Whatever this side keeps of some topics as an answer described them. */
    Object read(List<Topic> answer);

    /** The metadata of a cluster with just these topics. */
    Object load(Object read);

    /** The metadata with the new state of some of its topics. */
    Object apply(Object metadata, Object read);

    /** Looks a topic up, as {@code send} does. */
    int countPartitions(Object metadata, String topic) throws Throwable;

    /** The side with this name: {@code kafka-VERSION} for the published classes, or a library's. */
    static MetadataSide of(String name, SampleCluster cluster) {
        return switch (name) {
            case "millrace" -> new Millrace();
            case "copied-map" -> new CopiedMap();
            default -> {
                LibraryMap<?> library = LibraryMap.ofNameOrNull(name);
                yield library != null ? library : new PublishedSnapshot(name, cluster);
            }
        };
    }

    /** {@link ClusterImage}. */
    final class Millrace implements MetadataSide {
        /** Without brokers, which no side compares here: the snapshot gets a map of them that is ready. */
        @Override
        public ClusterDelta read(List<Topic> answer) {
            return new ClusterDelta(
                    "cluster", List.of(), answer.stream().map(Topic::toImage).toList(), Map.of(), false);
        }

        @Override
        public ClusterImage load(Object read) {
            return ClusterImage.bootstrap(List.of()).withDelta((ClusterDelta) read);
        }

        @Override
        public ClusterImage apply(Object metadata, Object read) {
            return ((ClusterImage) metadata).withDelta((ClusterDelta) read);
        }

        @Override
        public int countPartitions(Object metadata, String topic) {
            return ((ClusterImage) metadata).topic(topic).partitions();
        }
    }

    /**
     * The control: the same topics in a {@code HashMap}, which is copied for each change. A load gives each topic its
     * number, as the image must, since a topic without one is of no use to {@code send}.
     */
    final class CopiedMap implements MetadataSide {
        @Override
        public List<TopicImage> read(List<Topic> answer) {
            return answer.stream().map(Topic::toImage).toList();
        }

        @Override
        public Map<String, TopicImage> load(Object read) {
            List<TopicImage> topics = topics(read);
            Map<String, TopicImage> presized = new HashMap<>(topics.size() * 4 / 3 + 1);
            topics.forEach(topic -> presized.put(topic.name, topic.withIndex(presized.size())));
            return presized;
        }

        @Override
        public Map<String, TopicImage> apply(Object metadata, Object read) {
            Map<String, TopicImage> copy = new HashMap<>(map(metadata));
            for (TopicImage answer : topics(read)) {
                copy.merge(answer.name, answer, TopicImage::withAnswer);
            }
            return copy;
        }

        @Override
        public int countPartitions(Object metadata, String topic) {
            return map(metadata).get(topic).partitions();
        }

        @SuppressWarnings("unchecked")
        private static List<TopicImage> topics(Object read) {
            return (List<TopicImage>) read;
        }

        @SuppressWarnings("unchecked")
        private static Map<String, TopicImage> map(Object metadata) {
            return (Map<String, TopicImage>) metadata;
        }
    }
}
