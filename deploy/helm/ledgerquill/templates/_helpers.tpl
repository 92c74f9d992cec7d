{{- define "ledgerquill.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "ledgerquill.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "ledgerquill.labels" -}}
{{ include "ledgerquill.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* The tag is ignored where there is a digest. */}}
{{- define "ledgerquill.image" -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- with .Values.image.digest }}@{{ . }}{{ end -}}
{{- end -}}

{{/* With a volume for each gateway, a StatefulSet. */}}
{{- define "ledgerquill.kind" -}}
{{- if .Values.persistence.size -}}StatefulSet{{- else -}}Deployment{{- end -}}
{{- end -}}

{{/* The largest number of gateways. */}}
{{- define "ledgerquill.replicas" -}}
{{- if .Values.autoscaling.enabled -}}
{{- .Values.autoscaling.maxReplicas -}}
{{- else -}}
{{- .Values.replicas -}}
{{- end -}}
{{- end -}}

{{/* As the gateway computes its own times to stop (src/config/read-config.ts), and 5 s. */}}
{{- define "ledgerquill.gracePeriodSeconds" -}}
{{- $bankData := .Values.config.BANK_DATA_TIMEOUT_MS | default "10000" | int64 -}}
{{- $essay := .Values.config.ESSAY_TIMEOUT_MS | default "120000" | int64 -}}
{{- $timeout := .Values.config.SHUTDOWN_TIMEOUT_MS | default (max $bankData $essay | add 5000 | toString) | int64 -}}
{{- $delay := .Values.config.SHUTDOWN_DELAY_MS | default "5000" | int64 -}}
{{- add (div (add $delay $timeout 999) 1000) 5 -}}
{{- end -}}

{{/* Agents also need what says where they get tokens. Health checks stay inside. */}}
{{- define "ledgerquill.publicPaths" -}}
/graphql{{- if ne (.Values.config.MCP | default "on") "off" }} /mcp /.well-known/oauth-protected-resource{{- end -}}
{{- end -}}

{{/* Clients and routers in the cluster use the names of the service. */}}
{{- define "ledgerquill.allowedHosts" -}}
{{- $name := include "ledgerquill.fullname" . -}}
{{- $inNamespace := printf "%s.%s" $name .Release.Namespace -}}
{{- $hosts := list $name $inNamespace (printf "%s.svc" $inNamespace) (printf "%s.svc.cluster.local" $inNamespace) -}}
{{- if .Values.ingress.enabled -}}{{- $hosts = concat $hosts .Values.ingress.hosts -}}{{- end -}}
{{- if .Values.httpRoute.enabled -}}{{- $hosts = concat $hosts .Values.httpRoute.hostnames -}}{{- end -}}
{{- join "," $hosts -}}
{{- end -}}
