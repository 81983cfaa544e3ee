package dev.millrace.mirror.helm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.helm.HelmChart.Result;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.openshift.api.model.monitoring.v1.PodMonitor;
import io.fabric8.openshift.api.model.monitoring.v1.PrometheusRule;
import io.fabric8.openshift.api.model.monitoring.v1.ServiceMonitor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The chart, linted and rendered by Helm, and read as strictly as it can be. */
@Tag("thorough")
@Tag("long")
class HelmChartIT {
    private static final Path MINIMAL = HelmChart.EXAMPLES.resolve("minimal.yaml");
    private static final Path PAGE = Path.of("..", "docs", "mirror-kubernetes.md");
    private static final Pattern MEBIBYTES_OF_JVM = Pattern.compile("-(?:Xmx|XX:\\w+=)(\\d+)m");

    @TempDir
    private Path folder;

    @BeforeAll
    static void buildHelm() throws IOException {
        HelmChart.buildHelm();
    }

    @ParameterizedTest
    @ValueSource(strings = {"minimal", "tls-sasl", "exactly-once", "everything", "old-cluster", "secured"})
    void shouldRenderManifestsThatKubernetesTakesAtItsStrictestLevel(String name) throws IOException {
        Path values = HelmChart.EXAMPLES.resolve(name + ".yaml");

        Result lint = HelmChart.lint(values);
        Manifests manifests = HelmChart.render(values);

        assertThat(lint.exitCode()).as(lint.output()).isZero();
        assertThat(manifests.pods()).hasSize(name.equals("everything") ? 5 : 4).allSatisfy(pod -> {
            assertThat(PodSecurity.violations(pod.getSpec())).isEmpty();
            assertThat(pod.getSpec().getAutomountServiceAccountToken()).isFalse();
            assertThat(mirror(pod).getSecurityContext().getReadOnlyRootFilesystem())
                    .isTrue();
            assertThat(flagsInMebibytes(mirror(pod)))
                    .as("what the flags allow is in the memory that is asked for")
                    .isBetween(memory(mirror(pod)) / 2, memory(mirror(pod)) - 128);
        });
        assertThat(manifests.all()).allSatisfy(manifest -> {
            assertThat(manifest.getMetadata().getNamespace()).isEqualTo(HelmChart.NAMESPACE);
            assertThat(manifest.getMetadata().getLabels()).containsEntry("app.kubernetes.io/instance", "mirror");
        });
        shouldSelectThePodsOfTheMirrorOnly(manifests);
    }

    /** Jobs that were selected would be scraped, and counted by the disruption budget. */
    private static void shouldSelectThePodsOfTheMirrorOnly(Manifests manifests) {
        StatefulSet set = manifests.statefulSet();
        Stream.of(
                        Stream.of(set.getSpec().getSelector().getMatchLabels()),
                        manifests.of(Service.class).stream()
                                .map(service -> service.getSpec().getSelector()),
                        manifests.of(PodDisruptionBudget.class).stream()
                                .map(budget -> budget.getSpec().getSelector().getMatchLabels()),
                        manifests.of(PodMonitor.class).stream()
                                .map(monitor -> monitor.getSpec().getSelector().getMatchLabels()))
                .flatMap(selectors -> selectors)
                .forEach(selector -> assertThat(manifests.pods())
                        .filteredOn(
                                pod -> pod.getMetadata().getLabels().entrySet().containsAll(selector.entrySet()))
                        .containsExactly(set.getSpec().getTemplate()));
        assertThat(manifests.of(ServiceMonitor.class))
                .allSatisfy(monitor -> assertThat(
                                manifests.of(Service.class).get(0).getMetadata().getLabels())
                        .containsAllEntriesOf(monitor.getSpec().getSelector().getMatchLabels()));
        assertThat(manifests.of(Service.class))
                .extracting(service -> service.getMetadata().getName())
                .containsExactly(set.getSpec().getServiceName());
    }

    @Test
    void shouldHaveWhatIsAskedForAndNothingElse() throws IOException {
        Manifests minimal = HelmChart.render(MINIMAL);
        Manifests everything = HelmChart.render(HelmChart.EXAMPLES.resolve("everything.yaml"));

        assertThat(minimal.of(NetworkPolicy.class)).isEmpty();
        assertThat(minimal.of(PodMonitor.class)).isEmpty();
        assertThat(minimal.of(PrometheusRule.class)).isEmpty();
        assertThat(minimal.of(ServiceAccount.class)).hasSize(1);
        assertThat(everything.of(NetworkPolicy.class)).hasSize(1);
        assertThat(everything.of(PodMonitor.class)).hasSize(1);
        assertThat(everything.of(PrometheusRule.class)).hasSize(1);
        assertThat(everything.all())
                .extracting(manifest -> manifest.getMetadata().getName())
                .contains("mirror-dashboard");
        Container container = mirror(everything.statefulSet().getSpec().getTemplate());
        assertThat(container.getImage()).matches("millrace-mirror@sha256:[0-9a-f]{64}");
        assertThat(javaOptions(container)).contains("-Xmx1072m", "-XX:ActiveProcessorCount=3", "-javaagent:");
        assertThat(everything.pods()).allSatisfy(pod -> {
            assertThat(pod.getMetadata().getLabels()).containsEntry("team", "kafka");
            assertThat(pod.getSpec().getSecurityContext().getFsGroup()).isEqualTo(10001);
            assertThat(mirror(pod).getResources().getLimits()).containsEntry("cpu", new Quantity("4"));
        });
        assertThat(minimal.of(Deployment.class)).isEmpty();
        assertThat(mirror(everything.of(Deployment.class).get(0).getSpec().getTemplate())
                        .getCommand())
                .containsExactly("sleep", "infinity");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            replicas=-1                                | '/replicas'
            replica=2                                  | additional properties 'replica' not allowed
            heapMiB=100                                | '/heapMiB'
            image.digest=sha256:12                     | '/image/digest'
            credentials.a.hostPath.path=/etc           | 'hostPath' not allowed
            pod.hostNetwork=true                       | 'hostNetwork' not allowed
            pod.volumes=null                           | 'volumes' not allowed
            monitor.kind=Prometheus                    | '/monitor/kind'
            mirror.source=null                         | mirror.source is missing
            mirror.topics=null                         | mirror.topics is missing
            mirror.http=9464                           | mirror.http: the chart sets it
            mirror.yes=true                            | mirror.yes: the chart's Jobs only look
            mirror.undo=true                           | mirror.undo: the chart's Jobs only look
            mirror.source\\.ssl\\.key\\.password=x     | mirror.source.ssl.key.password has a secret
            mirror.source\\.ssl\\.keystore\\.key=x     | mirror.source.ssl.keystore.key has a secret
            mirror.target\\.sasl\\.jaas\\.config=x password="y"; | mirror.target.sasl.jaas.config has a secret
            mirror.source\\.group\\.instance\\.id=a    | mirror.source.group.instance.id: each member needs one of its own
            extraEnv[0].name=A,extraEnv[0].valueFrom.secretKeyRef.name=a | extraEnv: A is a secret
            extraEnv[0].name=A_PASSWORD,extraEnv[0].value=x | extraEnv: A_PASSWORD is a secret
            extraEnv[0].name=A,extraEnv[0].value=-Dpassword=x | extraEnv: A is a secret
            javaOptions=-Djavax.net.ssl.trustStorePassword=x | javaOptions has a secret
            javaOptions=-Xmx4g                         | javaOptions has -Xmx: set heapMiB
            cpus=many                                  | '/cpus'
            cpuLimit=500m                              | cpuLimit 500m is less than cpus, the request of 1
            mirror.source\\.ssl\\.truststore\\.location=/etc/mirror/credentials/old/ca.crt | add credentials.old
            resources.limits.cpu=1                     | memory follows from heapMiB
            imagePullSecrets[0].name=a                 | imagePullSecrets is no value: it belongs under pod
            pod.imagePullSecrets[0].nmae=a             | 'nmae' not allowed
            pod.securityContext.privileged=true        | 'privileged' not allowed
            image.repository=registry.example:5000/mirror:1 | has a tag or a digest
            credentials.CA_cert.secret.secretName=a    | credentials.CA_cert: a name has small letters
            credentials.a.secret.secretName=           | '/credentials/a/secret/secretName'
            podLabels.app\\.kubernetes\\.io/name=a     | the chart selects its pods by labels of this kind
            extraVolumes[0].name=tmp                   | the chart has a volume tmp itself
            mirror.source\\.bootstrap\\.servers=a      | both have addresses of that cluster
            mirror.source-setting=a                    | write the settings under mirror.source
            mirror.http-token=abc                      | mirror.http-token has a secret
            mirror.target\\.sasl\\.jaas\\.config=x a="${b}" password="y"; | mirror.target.sasl.jaas.config has a secret
            extraEnv[0].name=MIRROR_JAVA_OPTS          | use javaOptions
            networkPolicy.enabled=true                 | networkPolicy.egress is empty
            networkPolicy.egress[0].ports[0].port=53   | networkPolicy.enabled is false
            networkPolicy.enabled=true,networkPolicy.egress[0].ports[0].port=53,monitor.kind=PodMonitor | ingressFrom is empty
            alerts.enabled=true                        | set monitor.kind
            alerts.enabled=true,monitor.kind=PodMonitor | alerts.runbook is missing
            """)
    void shouldRefuseWhatIsWrongWithASentence(String values, String sentence) {
        Result result = HelmChart.template(List.of("--set", values), MINIMAL);

        assertThat(result.exitCode()).as(result.output()).isNotZero();
        assertThat(result.output()).contains(sentence);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "image.repository=registry.example:5000/mirror",
                "extraEnv[0].name=APM_SECRET_FILE",
                "cpus=0.5",
                "cpus=500m,cpuLimit=0.5",
                "extraVolumeMounts[0].name=a,extraVolumeMounts[0].mountPath=/etc/mirror/credentials/old/,"
                        + "mirror.source\\.ssl\\.truststore\\.location=/etc/mirror/credentials/old/ca.crt",
                "extraVolumeMounts[0].name=a,extraVolumeMounts[0].mountPath=/etc/mirror/credentials/old/ca.crt,"
                        + "mirror.source\\.ssl\\.truststore\\.location=/etc/mirror/credentials/old/ca.crt"
            })
    void shouldTakeWhatOnlyLooksWrong(String values) {
        Result result = HelmChart.template(List.of("--set", values), MINIMAL);

        assertThat(result.exitCode()).as(result.output()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"mirror.v2", "2mirror", "a-name-with-one-more-character-than-the-labels-of-a-p"})
    void shouldRefuseAReleaseWhoseNameItsPodsCannotHave(String release) {
        Result result = HelmChart.template(List.of("--name-template", release), MINIMAL);

        assertThat(result.exitCode()).as(result.output()).isNotZero();
        assertThat(result.output()).contains("release " + release + ": the name of a StatefulSet");
    }

    @Test
    void shouldRestartThePodsForAChangedFileOnly() throws IOException {
        Path other = Files.writeString(folder.resolve("other.yaml"), "mirror: {threads: 2}");
        Path scaled = Files.writeString(folder.resolve("scaled.yaml"), "replicas: 4");

        Object template = HelmChart.render(MINIMAL).statefulSet().getSpec().getTemplate();

        assertThat(HelmChart.render(MINIMAL, scaled).statefulSet().getSpec().getTemplate())
                .isEqualTo(template);
        assertThat(HelmChart.render(MINIMAL, other).statefulSet().getSpec().getTemplate())
                .isNotEqualTo(template);
    }

    @Test
    void shouldShowOnThePageWhatItRenders() throws IOException {
        Result rendered = HelmChart.template(
                List.of("--show-only", "templates/configmap.yaml", "--show-only", "templates/statefulset.yaml"),
                MINIMAL);

        assertThat(Files.readString(PAGE))
                .contains("```yaml\n" + Files.readString(MINIMAL) + "```")
                .contains("```yaml\n" + Files.readString(HelmChart.EXAMPLES.resolve("secured.yaml")) + "```")
                .contains("```yaml\n" + rendered.output().strip() + "\n```");
    }

    /** The container of the mirror, which is the only one that is not the user's. */
    private static Container mirror(PodTemplateSpec pod) {
        assertThat(pod.getSpec().getContainers()).hasSize(1);
        return pod.getSpec().getContainers().get(0);
    }

    private static String javaOptions(Container container) {
        return container.getEnv().stream()
                .filter(variable -> variable.getName().equals("MIRROR_JAVA_OPTS"))
                .map(EnvVar::getValue)
                .findFirst()
                .orElseThrow();
    }

    /** The sum of all limits of the JVM. */
    private static long flagsInMebibytes(Container container) {
        return MEBIBYTES_OF_JVM
                .matcher(javaOptions(container))
                .results()
                .mapToLong(flag -> Long.parseLong(flag.group(1)))
                .sum();
    }

    private static long memory(Container container) {
        Map<String, Quantity> limits = container.getResources().getLimits();
        assertThat(container.getResources().getRequests()).containsEntry("memory", limits.get("memory"));
        return Quantity.getAmountInBytes(limits.get("memory")).longValueExact() >> 20;
    }
}
