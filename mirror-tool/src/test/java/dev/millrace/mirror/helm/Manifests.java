package dev.millrace.mirror.helm;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.openshift.api.model.monitoring.v1.PodMonitor;
import io.fabric8.openshift.api.model.monitoring.v1.PrometheusRule;
import io.fabric8.openshift.api.model.monitoring.v1.ServiceMonitor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Manifests in the model of Kubernetes and of the Prometheus operator. A field that the model does not have is an error. */
record Manifests(List<HasMetadata> all) {
    private static final Map<String, Class<? extends HasMetadata>> KINDS = Stream.of(
                    ConfigMap.class,
                    Deployment.class,
                    Job.class,
                    NetworkPolicy.class,
                    PodDisruptionBudget.class,
                    PodMonitor.class,
                    PrometheusRule.class,
                    Service.class,
                    ServiceAccount.class,
                    ServiceMonitor.class,
                    StatefulSet.class)
            .collect(Collectors.toMap(Manifests::kind, Function.identity()));

    private static final ObjectMapper STRICT = YAMLMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .annotationIntrospector(new WithoutFurtherFields())
            .build();

    /** Each class of the model puts what it does not know into a map. */
    private static final class WithoutFurtherFields extends JacksonAnnotationIntrospector {
        private static final long serialVersionUID = 1;

        @Override
        public Boolean hasAnySetter(Annotated annotated) {
            return false;
        }
    }

    static Manifests parse(String yaml) throws IOException {
        List<HasMetadata> parsed = new ArrayList<>();
        for (JsonNode document :
                STRICT.readerFor(JsonNode.class).<JsonNode>readValues(yaml).readAll()) {
            String kind = document.path("apiVersion").asText() + " "
                    + document.path("kind").asText();
            if (!KINDS.containsKey(kind)) {
                throw new IOException("Not a kind that is expected: " + document);
            }
            parsed.add(STRICT.treeToValue(document, KINDS.get(kind)));
        }
        return new Manifests(parsed);
    }

    /** All of a class. */
    <T extends HasMetadata> List<T> of(Class<T> type) {
        return all.stream().filter(type::isInstance).map(type::cast).toList();
    }

    StatefulSet statefulSet() {
        return of(StatefulSet.class).get(0);
    }

    /** The pods that these manifests lead to. */
    List<PodTemplateSpec> pods() {
        return Stream.of(
                        of(StatefulSet.class).stream().map(set -> set.getSpec().getTemplate()),
                        of(Deployment.class).stream()
                                .map(deployment -> deployment.getSpec().getTemplate()),
                        of(Job.class).stream().map(job -> job.getSpec().getTemplate()))
                .flatMap(pods -> pods)
                .toList();
    }

    private static String kind(Class<? extends HasMetadata> type) {
        return HasMetadata.getApiVersion(type) + " " + HasMetadata.getKind(type);
    }
}
