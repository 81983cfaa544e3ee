package dev.millrace.mirror.helm;

import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.UnpackedPackage;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A pod as this machine can run it: the packaged mirror with the container's arguments and variables, in a folder with
 * its mounted files and nothing else. What begins with {@code /} in the container begins with this folder here.
 */
final class Pod implements AutoCloseable {
    private static final HttpClient KUBELET = HttpClient.newHttpClient();

    private final PodSpec spec;
    private final Container container;
    private final String name;
    private final String address;
    private final Path root;
    private final MirrorProcess process;

    /** Where pods run. */
    record Node(UnpackedPackage image, Path folder, Map<String, Path> secrets) {}

    /** @param address an address of this machine which no other pod has */
    static Pod start(Node node, Manifests manifests, PodTemplateSpec template, String name, String address)
            throws IOException {
        return new Pod(node, manifests, template, name, address);
    }

    private Pod(Node node, Manifests manifests, PodTemplateSpec template, String name, String address)
            throws IOException {
        this.spec = template.getSpec();
        this.container = spec.getContainers().get(0);
        this.name = name;
        this.address = address;
        this.root = Files.createTempDirectory(node.folder(), name);
        for (VolumeMount mount : container.getVolumeMounts()) {
            mount(node, manifests, mount);
        }
        Map<String, String> variables = variables();
        List<String> command = new ArrayList<>(
                List.of(node.image().root().resolve("bin/mirror").toString()));
        for (String argument : container.getArgs()) {
            String expanded = argument;
            for (Map.Entry<String, String> variable : variables.entrySet()) {
                expanded = expanded.replace("$(" + variable.getKey() + ")", variable.getValue());
            }
            command.add(here(expanded));
        }
        ProcessBuilder builder = node.image().isolated(command).directory(root.toFile());
        builder.environment().putAll(variables);
        builder.environment().merge("MIRROR_JAVA_OPTS", " -Djava.io.tmpdir=" + root.resolve("tmp"), String::concat);
        this.process = MirrorProcess.start(builder);
    }

    private void mount(Node node, Manifests manifests, VolumeMount mount) throws IOException {
        Path folder = Path.of(root + mount.getMountPath());
        Files.createDirectories(folder.getParent());
        Volume volume = spec.getVolumes().stream()
                .filter(candidate -> candidate.getName().equals(mount.getName()))
                .findFirst()
                .orElseThrow();
        if (volume.getConfigMap() != null) {
            ConfigMap files = manifests.of(ConfigMap.class).stream()
                    .filter(map -> map.getMetadata()
                            .getName()
                            .equals(volume.getConfigMap().getName()))
                    .findFirst()
                    .orElseThrow();
            Files.createDirectory(folder);
            for (Map.Entry<String, String> file : files.getData().entrySet()) {
                Files.writeString(folder.resolve(file.getKey()), here(file.getValue()));
            }
        } else if (volume.getSecret() != null) {
            UnpackedPackage.copy(node.secrets().get(volume.getSecret().getSecretName()), folder);
        } else if (volume.getEmptyDir() != null) {
            Files.createDirectory(folder);
        } else {
            throw new IOException("Not a volume that is expected: " + volume);
        }
    }

    private Map<String, String> variables() {
        Map<String, String> variables = new HashMap<>();
        for (EnvVar variable : container.getEnv()) {
            boolean isName = Optional.ofNullable(variable.getValueFrom())
                    .map(source -> source.getFieldRef().getFieldPath().equals("metadata.name"))
                    .orElse(false);
            variables.put(variable.getName(), isName ? name : variable.getValue());
        }
        return variables;
    }

    /** What this text of the container means here. */
    private String here(String text) {
        return text.replace("/etc/mirror", root + "/etc/mirror").replace("0.0.0.0", address);
    }

    MirrorProcess process() {
        return process;
    }

    boolean isStarted() {
        return answers(container.getStartupProbe()) && answers(container.getLivenessProbe());
    }

    boolean isReady() {
        return answers(container.getReadinessProbe());
    }

    private boolean answers(Probe probe) {
        String port = probe.getHttpGet().getPort().getStrVal();
        int number = container.getPorts().stream()
                .filter(candidate -> candidate.getName().equals(port))
                .mapToInt(ContainerPort::getContainerPort)
                .findFirst()
                .orElseThrow();
        URI uri = URI.create(
                "http://" + address + ":" + number + probe.getHttpGet().getPath());
        int seconds = Optional.ofNullable(probe.getTimeoutSeconds()).orElse(1);
        HttpRequest request =
                HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(seconds)).build();
        try {
            return KUBELET.send(request, HttpResponse.BodyHandlers.discarding()).statusCode() == 200;
        } catch (IOException e) {
            return false; // it does not listen yet, or is slow
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Ends it as Kubernetes does, and returns its exit code; fails if it has to be killed. */
    int stop() throws InterruptedException {
        return process.terminate().awaitExit(Duration.ofSeconds(spec.getTerminationGracePeriodSeconds()));
    }

    /** The most memory that it has had so far, in bytes. */
    long peakMemory() throws IOException {
        return Files.readAllLines(Path.of("/proc/" + process.pid() + "/status")).stream()
                .filter(line -> line.startsWith("VmHWM:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
                .findFirst()
                .orElseThrow();
    }

    @Override
    public void close() {
        process.close();
    }
}
