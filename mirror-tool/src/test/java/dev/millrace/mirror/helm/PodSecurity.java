package dev.millrace.mirror.helm;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.PodSecurityContext;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.SecurityContext;
import io.fabric8.kubernetes.api.model.Volume;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** The level "restricted" of Kubernetes' pod security standards, as far as a pod of Linux can break it. */
final class PodSecurity {
    private static final Set<String> VOLUMES = Set.of(
            "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret");

    private final List<String> violations = new ArrayList<>();

    private PodSecurity() {}

    /** What the level forbids of what the pod has; empty if it may run. */
    static List<String> violations(PodSpec pod) {
        PodSecurity security = new PodSecurity();
        security.check(pod);
        return security.violations;
    }

    private void check(PodSpec pod) {
        forbid(isTrue(pod.getHostNetwork()) || isTrue(pod.getHostPID()) || isTrue(pod.getHostIPC()), "host namespace");
        for (Volume volume : pod.getVolumes()) {
            List<String> fields = new ArrayList<>(VOLUMES);
            fields.add("name");
            JsonNode tree = new ObjectMapper().valueToTree(volume);
            tree.fieldNames().forEachRemaining(field -> forbid(!fields.contains(field), "volume of kind " + field));
        }
        PodSecurityContext ofPod = Optional.ofNullable(pod.getSecurityContext()).orElseGet(PodSecurityContext::new);
        forbid(!ofPod.getSysctls().isEmpty(), "sysctls");
        forbid(isRoot(ofPod.getRunAsUser()), "user 0");
        Stream.concat(pod.getContainers().stream(), pod.getInitContainers().stream())
                .forEach(container -> check(container, ofPod));
    }

    private void check(Container container, PodSecurityContext ofPod) {
        String name = container.getName() + ": ";
        SecurityContext own =
                Optional.ofNullable(container.getSecurityContext()).orElseGet(SecurityContext::new);
        forbid(isTrue(own.getPrivileged()), name + "privileged");
        forbid(!Boolean.FALSE.equals(own.getAllowPrivilegeEscalation()), name + "privilege escalation");
        forbid(isRoot(own.getRunAsUser()), name + "user 0");
        Boolean isNotRoot = own.getRunAsNonRoot() == null ? ofPod.getRunAsNonRoot() : own.getRunAsNonRoot();
        forbid(!isTrue(isNotRoot), name + "may be root");
        forbid(
                own.getCapabilities() == null
                        || !own.getCapabilities().getDrop().contains("ALL")
                        || !Set.of("NET_BIND_SERVICE")
                                .containsAll(own.getCapabilities().getAdd()),
                name + "capabilities");
        String seccomp = Stream.of(own.getSeccompProfile(), ofPod.getSeccompProfile())
                .filter(profile -> profile != null)
                .map(profile -> profile.getType())
                .findFirst()
                .orElse("none");
        forbid(!Set.of("RuntimeDefault", "Localhost").contains(seccomp), name + "seccomp " + seccomp);
        forbid(own.getProcMount() != null && !own.getProcMount().equals("Default"), name + "procMount");
        forbid(container.getPorts().stream().anyMatch(port -> port.getHostPort() != null), name + "port of the host");
    }

    private void forbid(boolean isThere, String what) {
        if (isThere) {
            violations.add(what);
        }
    }

    private static boolean isTrue(Boolean value) {
        return Boolean.TRUE.equals(value);
    }

    private static boolean isRoot(Long user) {
        return user != null && user == 0;
    }
}
