package dev.millrace.mirror.config;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Configurable;
import org.apache.kafka.common.TopicPartition;

/**
 * Shares the partitions of a group so that its members have about equally many bytes to copy. A partition changes
 * hands only if the member with the most bytes has clearly more than its share, and then cooperatively (KIP-429): its
 * new owner gets it in the rebalance after the one in which the old owner gives it up.
 *
 * <p>It runs in one member of the group. It asks the source for sizes; while they are not known, each partition counts
 * the same.
 *
 * <p><b>Threads:</b> that of the consumer it belongs to. {@link #assign} blocks for as long as {@link PartitionSizes}
 * does.
 */
public final class ByteBalancedAssignor implements ConsumerPartitionAssignor, Configurable {
    /** The setting whose value is a {@link PartitionSizes}. */
    static final String SIZES_CONFIG = "millrace.mirror.partition.sizes";

    /** A member that has up to this much more than its share keeps it: a move costs a pause. */
    private static final double TOLERANCE = 1.05;
    /** Empty partitions are shared too: each counts at least as this part of a mean one. */
    private static final double LEAST_PART_OF_MEAN = 0.05;

    private static final Comparator<TopicPartition> BY_NAME =
            Comparator.comparing(TopicPartition::topic).thenComparing(TopicPartition::partition);

    private PartitionSizes sizes = PartitionSizes.UNKNOWN;

    @Override
    public String name() {
        return "millrace-bytes";
    }

    @Override
    public List<RebalanceProtocol> supportedProtocols() {
        return List.of(RebalanceProtocol.COOPERATIVE, RebalanceProtocol.EAGER);
    }

    @Override
    public void configure(Map<String, ?> configs) {
        if (configs.get(SIZES_CONFIG) instanceof PartitionSizes known) {
            sizes = known;
        }
    }

    @Override
    public GroupAssignment assign(Cluster metadata, GroupSubscription group) {
        Map<String, Subscription> subscriptions = new TreeMap<>(group.groupSubscription());
        Map<TopicPartition, Double> weights = weigh(partitions(metadata, subscriptions.values()));
        Map<TopicPartition, Set<String>> claims = claims(subscriptions);

        Map<String, Share> shares = new TreeMap<>();
        subscriptions.forEach((member, subscription) -> shares.put(member, new Share(subscription, weights)));
        share(weights, claims, shares);
        balance(shares.values());

        Map<String, Assignment> assignments = new HashMap<>();
        shares.forEach(
                (member, share) -> assignments.put(member, new Assignment(share.withoutClaimed(member, claims))));
        return new GroupAssignment(assignments);
    }

    private static Set<TopicPartition> partitions(Cluster metadata, Collection<Subscription> subscriptions) {
        Set<String> topics = new TreeSet<>();
        subscriptions.forEach(subscription -> topics.addAll(subscription.topics()));
        Set<TopicPartition> partitions = new HashSet<>();
        for (String topic : topics) {
            Integer count = metadata.partitionCountForTopic(topic);
            for (int partition = 0; count != null && partition < count; partition++) {
                partitions.add(new TopicPartition(topic, partition));
            }
        }
        return partitions;
    }

    private Map<TopicPartition, Double> weigh(Set<TopicPartition> partitions) {
        Map<TopicPartition, Long> bytes = sizes.of(partitions);
        double mean = bytes.values().stream().mapToLong(size -> size).sum() / (double) Math.max(1, partitions.size());
        double least = Math.max(1, mean * LEAST_PART_OF_MEAN);
        Map<TopicPartition, Double> weights = new HashMap<>();
        partitions.forEach(partition -> weights.put(partition, bytes.getOrDefault(partition, 0L) + least));
        return weights;
    }

    /** Returns the members that claim each partition; members of an earlier generation have lost theirs (KIP-792). */
    private static Map<TopicPartition, Set<String>> claims(Map<String, Subscription> subscriptions) {
        int generation = subscriptions.values().stream()
                .mapToInt(ByteBalancedAssignor::generation)
                .max()
                .orElse(-1);
        Map<TopicPartition, Set<String>> claims = new HashMap<>();
        subscriptions.forEach((member, subscription) -> {
            if (generation(subscription) == generation) {
                subscription
                        .ownedPartitions()
                        .forEach(partition -> claims.computeIfAbsent(partition, key -> new HashSet<>())
                                .add(member));
            }
        });
        return claims;
    }

    private static int generation(Subscription subscription) {
        return subscription.generationId().orElse(-1);
    }

    /** Leaves each partition where it is and gives those without owner, largest first, to the member that has least. */
    private static void share(
            Map<TopicPartition, Double> weights, Map<TopicPartition, Set<String>> claims, Map<String, Share> shares) {
        List<TopicPartition> free = new ArrayList<>();
        for (TopicPartition partition : weights.keySet()) {
            Set<String> owners = claims.getOrDefault(partition, Set.of());
            Share owner = owners.size() == 1 ? shares.get(owners.iterator().next()) : null;
            if (owner != null && owner.wants(partition)) {
                owner.add(partition);
            } else {
                free.add(partition);
            }
        }
        free.sort(Comparator.<TopicPartition>comparingDouble(partition -> -weights.get(partition))
                .thenComparing(BY_NAME));
        for (TopicPartition partition : free) {
            shares.values().stream()
                    .filter(share -> share.wants(partition))
                    .min(Comparator.comparingDouble(Share::weight))
                    .ifPresent(share -> share.add(partition));
        }
    }

    /**
     * Moves partitions from the member that has most to the one that has least, as long as that helps. A member left
     * with one partition larger than a share takes no further part, and the others share the rest.
     */
    private static void balance(Collection<Share> shares) {
        List<Share> open = new ArrayList<>(shares);
        while (!open.isEmpty()) {
            double mean = open.stream().mapToDouble(Share::weight).average().orElseThrow();
            Share most = Collections.max(open, Comparator.comparingDouble(Share::weight));
            Share least = Collections.min(open, Comparator.comparingDouble(Share::weight));
            if (most.weight() <= TOLERANCE * mean) {
                return;
            }
            if (!most.moveOneTo(least)) {
                open.remove(most);
            }
        }
    }

    /** The partitions that one member is to have. */
    private static final class Share {
        private final Set<String> topics;
        private final Map<TopicPartition, Double> weights;
        private final Set<TopicPartition> partitions = new TreeSet<>(BY_NAME);
        private double weight;

        Share(Subscription subscription, Map<TopicPartition, Double> weights) {
            this.topics = new HashSet<>(subscription.topics());
            this.weights = weights;
        }

        boolean wants(TopicPartition partition) {
            return topics.contains(partition.topic());
        }

        double weight() {
            return weight;
        }

        void add(TopicPartition partition) {
            partitions.add(partition);
            weight += weights.get(partition);
        }

        /** Moves the partition that brings both shares closest to each other; returns whether there is one. */
        boolean moveOneTo(Share other) {
            double gap = weight - other.weight;
            return partitions.stream()
                    .filter(partition -> other.wants(partition) && weights.get(partition) < gap * (1 - 1e-9))
                    .min(Comparator.comparingDouble(
                                    (TopicPartition partition) -> Math.abs(weights.get(partition) - gap / 2))
                            .thenComparing(BY_NAME))
                    .map(partition -> {
                        partitions.remove(partition);
                        weight -= weights.get(partition);
                        other.add(partition);
                        return partition;
                    })
                    .isPresent();
        }

        /** Returns the partitions without those that another member has yet to give up. */
        List<TopicPartition> withoutClaimed(String member, Map<TopicPartition, Set<String>> claims) {
            return partitions.stream()
                    .filter(partition -> Set.of(member).containsAll(claims.getOrDefault(partition, Set.of())))
                    .toList();
        }
    }
}
