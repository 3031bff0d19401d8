{{- define "timemachine.name" -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* Labels that never change: a Deployment's selector cannot be edited. Takes a dict of `top` and `part`. */}}
{{- define "timemachine.selector" -}}
app.kubernetes.io/name: timemachine
app.kubernetes.io/instance: {{ .top.Release.Name | quote }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{- define "timemachine.labels" -}}
{{ include "timemachine.selector" . }}
app.kubernetes.io/version: {{ .top.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .top.Release.Service }}
{{- end }}

{{- define "timemachine.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "timemachine.host" -}}
{{ (urlParse .Values.settings.TIMEMACHINE_PUBLIC_URL).host | splitList ":" | first }}
{{- end }}

{{/* What all pods have in common. Takes a dict of `top` and, for the disk of temporary files, `temporaryDisk`. */}}
{{- define "timemachine.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile:
    type: RuntimeDefault
{{- with .top.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .top.Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .top.Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
volumes:
  - name: memory
    emptyDir: {medium: Memory, sizeLimit: 128Mi}
  - name: temporary
    emptyDir: {sizeLimit: {{ .temporaryDisk | default "256Mi" }}}
{{- end }}

{{/*
What all containers have in common. Takes a dict of `top`, `process` (none for a job), `resources`, and `owner` if it may know
the owner of the tables.
*/}}
{{- define "timemachine.container" -}}
image: {{ include "timemachine.image" .top | quote }}
imagePullPolicy: {{ .top.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
env:
  {{- if .process }}
  - name: TIMEMACHINE_PROCESS
    value: {{ .process }}
  {{- end }}
  - name: TMPDIR
    value: /var/tmp
  {{- if not (hasKey .top.Values.settings "ALLOWED_HOSTS") }}
  - name: ALLOWED_HOSTS
    value: {{ include "timemachine.host" .top | quote }}
  {{- end }}
  {{- range $name, $value := .top.Values.settings }}
  - name: {{ $name }}
    value: {{ $value | quote }}
  {{- end }}
envFrom:
  - secretRef:
      name: {{ .top.Values.secret }}
  {{- if and .owner .top.Values.ownerSecret }}
  - secretRef:
      name: {{ .top.Values.ownerSecret }}
  {{- end }}
volumeMounts:
  - name: memory
    mountPath: /tmp
  - name: memory
    mountPath: /home/timemachine
    subPath: home
  - name: temporary
    mountPath: /var/tmp
{{- with .resources }}
resources: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Spread the pods of a part over nodes, so that one node that fails does not take all of them. */}}
{{- define "timemachine.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{ include "timemachine.selector" . | nindent 8 }}
{{- end }}
