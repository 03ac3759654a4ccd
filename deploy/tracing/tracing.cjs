// Registers an OpenTelemetry SDK in the engine's process, before the engine starts: `NODE_OPTIONS=--require
// /tracing/tracing.cjs`. It sends the spans over OTLP/HTTP. The standard variables set where and how, above all
// OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS and OTEL_SERVICE_NAME.

const { trace } = require('@opentelemetry/api')
const { OTLPTraceExporter } = require('@opentelemetry/exporter-trace-otlp-http')
const { defaultResource, detectResources, envDetector, resourceFromAttributes } = require('@opentelemetry/resources')
const { BatchSpanProcessor, TracerProvider } = require('@opentelemetry/sdk-trace')

const provider = new TracerProvider({
  resource: defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'perdure' }))
    .merge(detectResources({ detectors: [envDetector] })),
  spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
})
trace.setGlobalTracerProvider(provider)

// The engine has drained: send what is left. After a second the process ends in any case.
process.once('beforeExit', () => provider.shutdown().catch(error => console.error('the last spans are lost:', error)))
