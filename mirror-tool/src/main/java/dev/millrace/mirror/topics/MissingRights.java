package dev.millrace.mirror.topics;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.cluster.TopicAcls;
import dev.millrace.mirror.cluster.TopicReaders;
import dev.millrace.mirror.config.TopicNames;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.quota.ClientQuotaFilter;

/** Finds the ACLs and quotas that the target lacks. All methods block while the clusters answer. */
record MissingRights(Admin source, Admin target, TopicNames names) {
    /**
     * Returns the ACLs that say at the source who may read the topics, with the names of the target, as far as they are
     * not there.
     */
    Set<AclBinding> missingReaders(Collection<String> topics) {
        Set<AclBinding> readers = TopicReaders.of(TopicAcls.ask(source, "source"), topics, names);
        readers.removeAll(TopicAcls.ask(target, "target"));
        return readers;
    }

    /** Returns what sets the quotas of users and client ids that the target does not have as the source has them. */
    Set<ClientQuotaAlteration> missingQuotas() {
        Map<ClientQuotaEntity, Map<String, Double>> there = quotas(target);
        Set<ClientQuotaAlteration> changes = new HashSet<>();
        quotas(source).forEach((entity, limits) -> {
            Map<String, Double> wanted = new HashMap<>(limits);
            wanted.entrySet().removeAll(there.getOrDefault(entity, Map.of()).entrySet());
            if (!wanted.isEmpty()) {
                changes.add(new ClientQuotaAlteration(
                        entity,
                        wanted.entrySet().stream()
                                .map(limit -> new ClientQuotaAlteration.Op(limit.getKey(), limit.getValue()))
                                .toList()));
            }
        });
        return changes;
    }

    /** Leaves out the quotas of IP addresses: other programs connect to each cluster from those. */
    private static Map<ClientQuotaEntity, Map<String, Double>> quotas(Admin cluster) {
        Map<ClientQuotaEntity, Map<String, Double>> quotas = new HashMap<>(Clusters.awaitUnchecked(
                cluster.describeClientQuotas(ClientQuotaFilter.all()).entities()));
        quotas.keySet().removeIf(entity -> entity.entries().containsKey(ClientQuotaEntity.IP));
        return quotas;
    }
}
