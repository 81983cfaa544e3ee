{{/* Refuses, with a sentence, what would start and not do what was meant. */}}
{{- define "mirror.check" -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]{0,50}[a-z0-9])?$" .Release.Name) }}
{{- printf "release %s: the name of a StatefulSet and a Service has small letters, digits and hyphens, begins with a letter, and has at most 52 characters" .Release.Name | fail }}
{{- end }}
{{- range $name, $there := dict "resources" "memory follows from heapMiB, and the processors are cpus and cpuLimit" "imagePullSecrets" "it belongs under pod" "nodeSelector" "it belongs under pod" "tolerations" "it belongs under pod" "affinity" "it belongs under pod" }}
{{- if hasKey $.Values $name }}
{{- printf "%s is no value: %s" $name $there | fail }}
{{- end }}
{{- end }}
{{- if and .Values.cpuLimit (lt (include "mirror.milliprocessors" .Values.cpuLimit | int) (include "mirror.milliprocessors" .Values.cpus | int)) }}
{{- printf "cpuLimit %v is less than cpus, the request of %v: Kubernetes would refuse the pods" .Values.cpuLimit .Values.cpus | fail }}
{{- end }}
{{- if regexMatch "(:[^/]*|@.*)$" .Values.image.repository }}
{{- printf "image.repository %s has a tag or a digest: give that as image.tag or image.digest" .Values.image.repository | fail }}
{{- end }}
{{- $options := include "mirror.flatten" (dict "map" .Values.mirror "prefix" "") | fromYaml }}
{{- range list "source" "target" }}
{{- if not (or (hasKey $options .) (hasKey $options (printf "%s.bootstrap.servers" .))) }}
{{- printf "mirror.%s is missing: the addresses of that cluster, such as kafka:9092" . | fail }}
{{- end }}
{{- if and (hasKey $options .) (hasKey $options (printf "%s.bootstrap.servers" .)) }}
{{- printf "mirror.%s and mirror.%s.bootstrap.servers both have addresses of that cluster: remove one" . . | fail }}
{{- end }}
{{- if hasKey $options (printf "%s-setting" .) }}
{{- printf "mirror.%s-setting: write the settings under mirror.%s; the chart needs this option itself" . . | fail }}
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
{{- $isSecret := and (regexMatch "(password|secret|\\.ssl\\.keystore\\.key|^http-token)$" $name) (not (contains "${" $text)) }}
{{- range regexFindAll "(?i)(password|secret)\\s*=\\s*[\"']?.{0,2}" $text -1 }}
{{- $isSecret = or $isSecret (not (contains "${" .)) }}
{{- end }}
{{- if $isSecret }}
{{- printf "mirror.%s has a secret, which everyone could read who may read the ConfigMap: put it into a Secret, name that in credentials, and refer to its file by a config provider, or by passwordFile" $name | fail }}
{{- end }}
{{- range $folder := regexFindAll "/etc/mirror/credentials/[^/:;,\"'\\s\\]}]+" $text -1 }}
{{- $isMounted := hasKey $.Values.credentials (base $folder) }}
{{- range $.Values.extraVolumeMounts }}
{{- $path := printf "%s/" (trimSuffix "/" .mountPath) }}
{{- $isMounted = or $isMounted (hasPrefix $path (printf "%s/" $folder)) (hasPrefix (printf "%s/" $folder) $path) }}
{{- end }}
{{- if not $isMounted }}
{{- printf "mirror.%s has a file in %s, where nothing is mounted: add credentials.%s" $name $folder (base $folder) | fail }}
{{- end }}
{{- end }}
{{- end }}
{{- if regexMatch "(?i)(password|secret)=" .Values.javaOptions }}
{{- fail "javaOptions has a secret, which everyone could read who may read the StatefulSet: name a file of credentials in mirror instead" }}
{{- end }}
{{- if contains "\n" (trim .Values.javaOptions) }}
{{- fail "javaOptions has several lines: write all options into one" }}
{{- end }}
{{- if regexMatch "(^|\\s)-Xmx" .Values.javaOptions }}
{{- fail "javaOptions has -Xmx: set heapMiB, from which the memory of the pod follows, too" }}
{{- end }}
{{- range $name, $_ := .Values.credentials }}
{{- if not (regexMatch "^[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?$" $name) }}
{{- printf "credentials.%s: a name has small letters, digits and hyphens, and at most 50 characters" $name | fail }}
{{- end }}
{{- end }}
{{- range $name, $_ := .Values.podLabels }}
{{- if hasPrefix "app.kubernetes.io/" $name }}
{{- printf "podLabels.%s: the chart selects its pods by labels of this kind; choose another name" $name | fail }}
{{- end }}
{{- end }}
{{- range .Values.extraVolumes }}
{{- if regexMatch "^(config|tmp|credentials-.*)$" .name }}
{{- printf "extraVolumes: the chart has a volume %s itself; choose another name" .name | fail }}
{{- end }}
{{- end }}
{{- range .Values.extraEnv }}
{{- $isSecret := and (regexMatch "(?i)(password|secret)" .name) (not (regexMatch "(?i)_(file|path|dir)$" .name)) }}
{{- if or $isSecret (dig "valueFrom" "secretKeyRef" false .) (regexMatch "(?i)(password|secret)=" (.value | default "")) }}
{{- printf "extraEnv: %s is a secret, which every program in the container could read from the environment: mount it by credentials" .name | fail }}
{{- end }}
{{- if has .name (list "POD_NAME" "MIRROR_JAVA_OPTS" "MIRROR_HTTP_TOKEN") }}
{{- printf "extraEnv: the chart sets %s: use javaOptions for options of the JVM, and http-token-file in mirror for a token" .name | fail }}
{{- end }}
{{- end }}
{{- if and .Values.networkPolicy.enabled (not .Values.networkPolicy.egress) }}
{{- fail "networkPolicy.egress is empty: the pods could reach neither DNS nor a broker; allow their ports" }}
{{- end }}
{{- with .Values.networkPolicy }}
{{- if and (not .enabled) (or .egress .ingressFrom) }}
{{- fail "networkPolicy has rules, but networkPolicy.enabled is false" }}
{{- end }}
{{- if and .enabled $.Values.monitor.kind (not .ingressFrom) }}
{{- fail "networkPolicy.ingressFrom is empty: Prometheus, for which there is a monitor, could not reach the pods" }}
{{- end }}
{{- end }}
{{- if and .Values.alerts.enabled (not .Values.monitor.kind) }}
{{- fail "alerts.enabled: without a monitor Prometheus does not know the mirror, and MirrorNotReady would never end; set monitor.kind" }}
{{- end }}
{{- if and .Values.alerts.enabled (not .Values.alerts.runbook) }}
{{- fail "alerts.runbook is missing: the address at which your people read docs/mirror-kubernetes.md" }}
{{- end }}
{{- end }}
