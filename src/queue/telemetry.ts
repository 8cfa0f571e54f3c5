import { ProxyTracerProvider, trace } from '@opentelemetry/api';
import type { Telemetry } from 'bullmq';
import { BullMQOtel } from 'bullmq-otel';

/**
 * BullMQ's spans, where the process was started with an OpenTelemetry SDK (`node --import …`); it
 * alone knows where they go. A job then also carries the trace that it belongs to.
 */
export function queueTelemetry(): { readonly telemetry?: Telemetry } {
  const provider = trace.getTracerProvider();
  const isTraced =
    !(provider instanceof ProxyTracerProvider) ||
    provider.getDelegateTracer('conciliation') !== undefined;
  return isTraced ? { telemetry: new BullMQOtel({ tracerName: 'conciliation' }) } : {};
}
