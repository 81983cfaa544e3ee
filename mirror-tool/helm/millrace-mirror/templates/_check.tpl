{{/* Refuses, with a sentence, what would start and not do what was meant. */}}
{{- define "mirror.check" -}}
{{- $options := include "mirror.flatten" (dict "map" .Values.mirror "prefix" "") | fromYaml }}
{{- range list "source" "target" }}
{{- if not (or (hasKey $options .) (hasKey $options (printf "%s.bootstrap.servers" .))) }}
{{- printf "mirror.%s is missing: the addresses of that cluster, such as kafka:9092" . | fail }}
{{- end }}
{{- end }}
{{- if not (hasKey $options "topics") }}
{{- fail "mirror.topics is missing: names of topics, or regular expressions for them" }}
{{- end }}
{{- if hasKey $options "http" }}
{{- fail "mirror.http: the chart sets it, because the probes ask at this port; remove it" }}
{{- end }}
{{- range list "yes" "undo" }}
{{- if hasKey $options . }}
{{- printf "mirror.%s: the chart's Jobs only look; remove it, and give it to the command that you run yourself" . | fail }}
{{- end }}
{{- end }}
{{- if hasKey $options "source.group.instance.id" }}
{{- fail "mirror.source.group.instance.id: each member needs one of its own, which staticMembers gives it; remove it" }}
{{- end }}
{{- range $name, $value := $options }}
{{- $text := toString $value }}
{{- $isSecret := or (regexMatch "(password|secret|\\.ssl\\.keystore\\.key)$" $name) (regexMatch "(?i)(password|secret)\\s*=" $text) }}
{{- if and $isSecret (not (contains "${" $text)) }}
{{- printf "mirror.%s has a secret, which everyone could read who may read the ConfigMap: put it into a Secret, name that in credentials, and refer to its file by a config provider, or by passwordFile" $name | fail }}
{{- end }}
{{- end }}
{{- if regexMatch "(?i)(password|secret)=" .Values.javaOptions }}
{{- fail "javaOptions has a secret, which everyone could read who may read the StatefulSet: name a file of credentials in mirror instead" }}
{{- end }}
{{- range .Values.extraEnv }}
{{- if or (dig "valueFrom" "secretKeyRef" false .) (regexMatch "(?i)(password|secret)" .name) }}
{{- printf "extraEnv: %s is a secret, which every program in the container could read from the environment: mount it by credentials" .name | fail }}
{{- end }}
{{- if has .name (list "POD_NAME" "MIRROR_JAVA_OPTS" "MIRROR_HTTP_TOKEN") }}
{{- printf "extraEnv: the chart sets %s: use javaOptions for options of the JVM, and http-token-file in mirror for a token" .name | fail }}
{{- end }}
{{- end }}
{{- if and .Values.networkPolicy.enabled (not .Values.networkPolicy.egress) }}
{{- fail "networkPolicy.egress is empty: the pods could reach neither DNS nor a broker; allow their ports" }}
{{- end }}
{{- if and .Values.alerts.enabled (not .Values.monitor.kind) }}
{{- fail "alerts.enabled: without a monitor Prometheus does not know the mirror, and MirrorNotReady would never end; set monitor.kind" }}
{{- end }}
{{- if and .Values.alerts.enabled (not .Values.alerts.runbook) }}
{{- fail "alerts.runbook is missing: the address at which your people read docs/mirror-kubernetes.md" }}
{{- end }}
{{- end }}
