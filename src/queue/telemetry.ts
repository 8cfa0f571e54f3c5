import { ProxyTracerProvider, trace } from '@opentelemetry/api';
import type { Telemetry } from 'bullmq';
import { BullMQOtel } from 'bullmq-otel';

/**
 * Returns BullMQ's telemetry if the process was started with an OpenTelemetry SDK (`node --import
 * …`). A job then also carries its trace.
 */
export function queueTelemetry(): { readonly telemetry?: Telemetry } {
  const provider = trace.getTracerProvider();
  const isTraced =
    !(provider instanceof ProxyTracerProvider) ||
    provider.getDelegateTracer('conciliation') !== undefined;
  return isTraced ? { telemetry: new BullMQOtel({ tracerName: 'conciliation' }) } : {};
}
