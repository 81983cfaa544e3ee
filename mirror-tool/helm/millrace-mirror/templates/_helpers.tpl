{{- define "mirror.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "mirror.labels" -}}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{ include "mirror.selector" . }}
{{- end }}

{{- define "mirror.metadata" -}}
name: {{ .Release.Name }}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "mirror.labels" . | nindent 2 }}
{{- end }}

{{/* The leaves of a map as one map, with dotted keys as in a properties file; without what has no value. */}}
{{- define "mirror.flatten" -}}
{{- range $key, $value := .map }}
{{- $name := printf "%s%s" $.prefix $key }}
{{- if kindIs "map" $value }}
{{- include "mirror.flatten" (dict "map" $value "prefix" (printf "%s." $name)) }}
{{- else if not (kindIs "invalid" $value) }}
{{ $name | quote }}: {{ $value | toJson }}
{{- end }}
{{- end }}
{{- end }}

{{/* In MiB. What somebody adds to buffer.memory adds to the heap. */}}
{{- define "mirror.heap" -}}
{{- $options := include "mirror.flatten" (dict "map" .Values.mirror "prefix" "") | fromYaml }}
{{- $buffer := divf (get $options "target.buffer.memory" | default 0 | float64) 1048576 | ceil | int }}
{{- add .Values.heapMiB (max 0 (sub $buffer 16)) }}
{{- end }}

{{/* What the process may take besides its heap, in MiB. */}}
{{- define "mirror.outsideHeap" -}}
direct: 128
metaspace: 128
code: 64
# Threads, the collector's tables, what the C library keeps, the files in /tmp, a command by `kubectl exec`.
rest: 192
{{- end }}

{{- define "mirror.memory" -}}
{{- $memory := include "mirror.heap" . | int }}
{{- range include "mirror.outsideHeap" . | fromYaml }}
{{- $memory = add $memory . }}
{{- end }}
{{- $memory }}Mi
{{- end }}

{{/* Thousandths of a processor, of a number or a quantity. */}}
{{- define "mirror.milliprocessors" -}}
{{- $cpus := toString . }}
{{- ternary (trimSuffix "m" $cpus | float64) (mulf (float64 $cpus) 1000) (hasSuffix "m" $cpus) | ceil | int }}
{{- end }}

{{/* For how many processors the JVM starts threads. */}}
{{- define "mirror.processors" -}}
{{- divf (include "mirror.milliprocessors" .Values.cpus) 1000 | ceil | int | max 2 }}
{{- end }}

{{/* Metadata of a pod; takes root and component, and annotations if the pod has some of its own. */}}
{{- define "mirror.podMetadata" -}}
labels:
  {{- include "mirror.selector" .root | nindent 2 }}
  app.kubernetes.io/component: {{ .component }}
  {{- with .root.Values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with merge (dict) (.annotations | default dict) .root.Values.podAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* What all pods have in common; takes root, args or command, and isServer for the mirror. */}}
{{- define "mirror.podSpec" -}}
{{- $outside := include "mirror.outsideHeap" .root | fromYaml -}}
{{- with .root.Values -}}
serviceAccountName: {{ $.root.Release.Name }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  seccompProfile:
    type: RuntimeDefault
  {{- with .pod.securityContext }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with omit .pod "securityContext" }}
{{ toYaml . }}
{{- end }}
volumes:
  - name: config
    configMap:
      name: {{ $.root.Release.Name }}
  - name: tmp # the native libraries of codecs
    emptyDir:
      medium: Memory
      sizeLimit: 64Mi
  {{- range $name, $volume := .credentials }}
  - name: credentials-{{ $name }}
    {{- toYaml $volume | nindent 4 }}
  {{- end }}
  {{- with .extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
containers:
  - name: mirror
    image: {{ .image.repository }}{{ if .image.digest }}@{{ .image.digest }}{{ else }}:{{ .image.tag | default $.root.Chart.AppVersion }}{{ end }}
    imagePullPolicy: {{ .image.pullPolicy }}
    {{- with $.command }}
    command:
      {{- toYaml . | nindent 6 }}
    {{- else }}
    args:
      {{- toYaml $.args | nindent 6 }}
    {{- end }}
    env:
      {{- if $.isServer }}
      - name: POD_NAME
        valueFrom:
          fieldRef:
            fieldPath: metadata.name
      {{- end }}
      - name: MIRROR_JAVA_OPTS
        value: >-
          -Xmx{{ include "mirror.heap" $.root }}m
          -XX:MaxDirectMemorySize={{ $outside.direct }}m
          -XX:MaxMetaspaceSize={{ $outside.metaspace }}m
          -XX:ReservedCodeCacheSize={{ $outside.code }}m
          -XX:ActiveProcessorCount={{ include "mirror.processors" $.root }}
          -XX:+ExitOnOutOfMemoryError
          {{- with .javaOptions }}
          {{ . }}
          {{- end }}
      {{- with .extraEnv }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    {{- if $.isServer }}
    ports:
      - name: http
        containerPort: 9464
    # The JVM of a busy node may take its time. From then on the mirror answers, also while it asks the target what it has.
    startupProbe:
      httpGet:
        path: /healthz
        port: http
      periodSeconds: 2
      failureThreshold: 150
    livenessProbe:
      httpGet:
        path: /healthz
        port: http
      periodSeconds: 10
      timeoutSeconds: 5
      failureThreshold: 6
    readinessProbe:
      httpGet:
        path: /readyz
        port: http
      periodSeconds: 5
      timeoutSeconds: 5
    {{- end }}
    resources:
      requests:
        cpu: {{ .cpus }}
        memory: {{ include "mirror.memory" $.root }}
      limits:
        {{- with .cpuLimit }}
        cpu: {{ . }}
        {{- end }}
        memory: {{ include "mirror.memory" $.root }}
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities:
        drop: [ALL]
    volumeMounts:
      - name: config
        mountPath: /etc/mirror/config
        readOnly: true
      - name: tmp
        mountPath: /tmp
      {{- range $name, $_ := .credentials }}
      - name: credentials-{{ $name }}
        mountPath: /etc/mirror/credentials/{{ $name }}
        readOnly: true
      {{- end }}
      {{- with .extraVolumeMounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
{{- end }}
{{- end }}
