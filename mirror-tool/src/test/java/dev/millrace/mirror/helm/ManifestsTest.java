package dev.millrace.mirror.helm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** What reads the manifests of the chart finds what is wrong with others. */
class ManifestsTest {
    private static final String SET = """
            apiVersion: apps/v1
            kind: StatefulSet
            spec:
              template:
                spec:
                  %s
            """;

    @Test
    void shouldRefuseAFieldThatKubernetesDoesNotHave() {
        assertThatThrownBy(() -> Manifests.parse(SET.formatted("container: []")))
                .isInstanceOf(UnrecognizedPropertyException.class)
                .hasMessageContaining("container");
    }

    @Test
    void shouldRefuseAKindThatTheChartDoesNotMake() {
        assertThatThrownBy(() -> Manifests.parse("apiVersion: v1\nkind: Secret\n"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("Secret");
    }

    @Test
    void shouldFindWhatTheRestrictedLevelForbids() throws IOException {
        PodSpec pod = Manifests.parse(SET.formatted(
                        "{hostNetwork: true, volumes: [{name: v, hostPath: {path: /}}], containers: [{name: c}]}"))
                .pods()
                .get(0)
                .getSpec();

        assertThat(PodSecurity.violations(pod))
                .containsExactly(
                        "host namespace",
                        "volume of kind hostPath",
                        "c: privilege escalation",
                        "c: may be root",
                        "c: capabilities",
                        "c: seccomp none");
    }
}
