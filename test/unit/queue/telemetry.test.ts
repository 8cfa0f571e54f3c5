import { ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { SpanKind } from 'bullmq';
import { BullMQOtel } from 'bullmq-otel';
import { afterEach, expect, test } from 'vitest';
import { queueTelemetry } from '../../../src/queue/telemetry.ts';

afterEach(() => trace.disable());

test('without an OpenTelemetry SDK the queue is not traced', () => {
  expect(queueTelemetry()).toEqual({});
});

test('with one its spans go there', () => {
  const spans: string[] = [];
  const noop = trace.wrapSpanContext({
    traceId: '1'.repeat(32),
    spanId: '1'.repeat(16),
    traceFlags: 1,
  });
  const tracer = {
    startSpan: (name: string) => {
      spans.push(name);
      return noop;
    },
    startActiveSpan: () => undefined as never,
  };
  trace.setGlobalTracerProvider({ getTracer: () => tracer });
  const { telemetry } = queueTelemetry();
  expect(telemetry).toBeInstanceOf(BullMQOtel);
  telemetry?.tracer.startSpan('add pulls', { kind: SpanKind.PRODUCER }, ROOT_CONTEXT).end();
  expect(spans).toEqual(['add pulls']);
});
